import type { BrakeName } from '../brake-weather.ts';
import type { PostFault } from '../coverage.ts';
import type { TurnName } from '../long-weather.ts';

/** Text of a file that is replaced by another text. */
export type Place = { file: string; find: string; replace: string };

/**
 * One thing done wrongly on purpose: this text of the file is replaced by that one. Where another guard would hide it,
 * `also` takes that guard away. What few days would show is wished for, to save time: `fault` befalls every other POST;
 * `again` befalls each POST of what was sent before; with `oldCopies` every day has an old ledger put back, with
 * `doubtful` the service takes what it gives no answer for and shows it late, with `brake` that brake is set, and with
 * `turn` it shows what only long days show.
 */
export type Defect = Place & {
  name: string;
  also?: readonly Place[];
  fault?: PostFault;
  again?: PostFault;
  oldCopies?: true;
  doubtful?: true;
  brake?: BrakeName;
  turn?: TurnName;
  /** The seed to begin with: the first days do not show it. */
  from?: number;
};
