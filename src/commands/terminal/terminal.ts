import { shortTime, shortTimeWithSeconds } from '../../reporting/short-times.ts';
import type { Config } from '../../settings/settings.ts';
import type { World } from '../world.ts';
import type { Paint } from './ink.ts';
import { type Column, table } from './table.ts';

/** How a command writes for people: to the width of the terminal, in its colours, with times in the reports' zone. */
export type Terminal = {
  /** Characters in a line; 80 when the output is not a terminal. */
  width: number;
  paint: Paint;
  /** `22 Nov 16:00`; `-` for null. */
  time(instant: string | null): string;
  /** `22 Nov 15:58:02`. */
  timeWithSeconds(instant: string | null): string;
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[];
};

/** The terminal of a command. `now`: ISO UTC; other years are named in times. */
export function terminalOf(
  { paint, columns: width }: Pick<World, 'paint' | 'columns'>,
  { reports: { timezone } }: Pick<Config, 'reports'>,
  now: string,
): Terminal {
  return {
    width,
    paint,
    time: (instant) => shortTime(instant, timezone, now),
    timeWithSeconds: (instant) => shortTimeWithSeconds(instant, timezone, now),
    table: (columns, rows) => table(columns, rows, { width, paint }),
  };
}
