import type { Config } from '../../../core/settings/settings.ts';
import { shortTime, shortTimeWithSeconds } from '../../../words/short-times.ts';
import type { World } from '../context/world.ts';
import { type TerminalColumn, terminalTable } from './table.ts';

export type Terminal = ReturnType<typeof terminalOf>;

/**
 * How a command writes for people: to the width of the terminal, in its colours, with times in the reports' zone. `now`:
 * ISO UTC; other years are named in times.
 */
export function terminalOf(
  { paint, columns: width }: Pick<World, 'paint' | 'columns'>,
  { reports: { timezone } }: Pick<Config, 'reports'>,
  now: string,
) {
  return {
    width,
    paint,
    /** `22 Nov 16:00`; `-` for null. */
    time: (instant: string | null) => shortTime(instant, timezone, now),
    /** `22 Nov 15:58:02`. */
    timeWithSeconds: (instant: string | null) => shortTimeWithSeconds(instant, timezone, now),
    table: <Row>(columns: readonly TerminalColumn<Row>[], rows: readonly Row[]) =>
      terminalTable(columns, rows, { width, paint }),
  };
}
