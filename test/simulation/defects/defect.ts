import type { BrakeName } from '../brake-weather.ts';
import type { PostFault } from '../coverage.ts';
import type { TurnName } from '../long-weather.ts';

/**
 * One thing done wrongly on purpose: this text of the file is replaced by that one. What few days would show is wished
 * for, to save time: `fault` befalls every other POST; with `oldCopies` every day has an old ledger put back, with
 * `doubtful` the service takes what it gives no answer for and shows it late, with `brake` that brake is set, and with
 * `turn` it shows what only long days show.
 */
export type Defect = {
  name: string;
  file: string;
  find: string;
  replace: string;
  fault?: PostFault;
  oldCopies?: true;
  doubtful?: true;
  brake?: BrakeName;
  turn?: TurnName;
  /** The seed to begin with: the first days do not show it. */
  from?: number;
};
