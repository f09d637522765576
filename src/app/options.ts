import type { openLedger } from '../custody/open-ledger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { createWorkers } from '../runtime/worker-lock.ts';
import type { Transport } from '../service/transport.ts';
import type { Config } from '../settings/settings.ts';

/**
 * What may become of the ledger: `reads` makes and changes nothing; `passing` is for one that is thrown away afterwards,
 * and so binds no home.
 */
export type Access = 'writes' | 'reads' | 'passing';

/** What an app is built with. The simulation brings its own clock, ledger, wire and workers. */
export type AppOptions = {
  config: Config;
  access?: Access;
  maxPageCount?: number;
  /** As openLedger has it. */
  breathes?: boolean;
  /** Without one, warnings and errors alone are logged. */
  log?: Logger;
  /** What the ledger calls this process. */
  kind?: string;
  clock?: Clock;
  openLedger?: typeof openLedger;
  transport?: Transport;
  createWorkers?: typeof createWorkers;
};
