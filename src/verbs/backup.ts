import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import { isLedgerFile } from '../core/storage/place.ts';
import { enterGate } from '../custody/custody-gate.ts';
import { type BackupMade, backupLedger } from '../custody/make-backup.ts';
import { assertNotHalfSwapped } from '../custody/swap.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = { config: Pick<Config, 'ledgerPlace'>; clock: Pick<Clock, 'iso'> };

/** `at`: the instant that the copy shows, ISO UTC. */
export type BackupOutcome = Extract<BackupMade, { kind: 'made' }> & { file: string; at: string };

/** Writes a consistent copy, even while the daemon runs or of another version. Overwrites no file. */
export const backupVerb = verb({
  name: 'backup',
  can: 'decide',
  touchesMoney: false,
  /** `file`: an absolute path. */
  input: z.strictObject({ file: z.string() }),
  async run({ config, clock }: Parts, { file }): Promise<BackupOutcome | Refused> {
    if (existsSync(file)) return refusedFor({ kind: 'file_exists', file });
    if (!existsSync(dirname(file))) return refusedFor({ kind: 'no_folder', folder: dirname(file) });
    const { ledgerPlace: place } = config;
    if (!isLedgerFile(place)) return refusedFor({ kind: 'in_a_database' });
    const at = clock.iso();
    const gate = await enterGate(place.path);
    try {
      assertNotHalfSwapped(place.path);
      const made = await backupLedger(place, file, at);
      return made.kind === 'exists' ? refusedFor({ kind: 'file_exists', file }) : { ...made, file, at };
    } finally {
      gate.release();
    }
  },
});
