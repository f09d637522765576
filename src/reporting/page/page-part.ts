import type { Draw } from './charts.ts';

/** Draws and describes one figure of one currency; `id` is unique on the page. */
export type Part = (
  rows: Record<string, string>[],
  about: { currency: string; id: string; draw: Draw },
) => Promise<string>;
