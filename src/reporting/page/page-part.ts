import type { Draw } from './charts.ts';

/** A picture with its numbers, or one line where a picture would show nothing (one day, one reason, no money). */
export type Figured = { kind: 'picture'; html: string } | { kind: 'line'; text: string };

/** Draws and describes the figures of one currency; `id` is unique on the page. */
export type Part = (
  rows: Record<string, string>[],
  about: { currency: string; id: string; draw: Draw },
) => Promise<Figured[]>;
