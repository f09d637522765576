import type { TopLevelSpec } from 'vega-lite';
import { html, trusted } from '../kit/html.ts';
import { beginCharts } from './charts-thread.ts';

/** A picture's place on the page, and its text for screen readers. */
export type Picture = { id: string; title: string; summary: string };
/** Draws a specification as an `svg` element: the same bytes for the same data. */
export type Draw = (spec: TopLevelSpec, picture: Picture) => Promise<string>;

const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const words = {
  labelFont: font,
  titleFont: font,
  labelFontSize: 12,
  titleFontSize: 12,
  titleFontWeight: 'normal',
  labelColor: 'currentColor',
  titleColor: 'currentColor',
} as const;

/** An axis of numbers: `1.5M`, and `0` where the format would say `0M`. */
export const shortNumbers = { format: '~s', labelExpr: "datum.value === 0 ? '0' : datum.label" } as const;

/** An axis of uncut names: the library guesses widths too large without fonts. Letters of wide scripts count twice. */
export function nameAxis(names: string[]) {
  const width = (name: string): number =>
    name.split('').reduce((sum, letter) => sum + (letter > '\u2e7f' ? 14 : 6.4), 10);
  const extent = Math.ceil(Math.max(...names.map(width)));
  return { labelLimit: 0, minExtent: extent, maxExtent: extent };
}

/** What all pictures share; the page's style decides the colours, so that one picture serves both schemes. */
export const commonSpec = {
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  width: 400,
  background: 'transparent',
  padding: { left: 2, right: 8, top: 4, bottom: 4 },
  autosize: { type: 'fit-x', contains: 'padding' },
  config: {
    // The element describes itself; descriptions of its parts would only be noise.
    aria: false,
    font,
    view: { stroke: null },
    axis: { ...words, gridColor: 'var(--grid)', domainColor: 'var(--line)', tickColor: 'var(--line)' },
    legend: { ...words, orient: 'top', title: null, symbolStrokeColor: 'var(--ink)' },
    text: { font, fontSize: 12, color: 'currentColor' },
  },
} as const satisfies Partial<TopLevelSpec>;

/** Starts the thread that draws. Only a page's writer needs it, and calls `end`. */
export function openCharts(): { draw: Draw; end(): Promise<void> } {
  const thread = beginCharts();
  return { draw: async (spec, picture) => labelled(await thread.svg(spec), picture), end: thread.end };
}

/** Names the picture for screen readers, and leaves its size to the page. */
function labelled(svg: string, { id, title, summary }: Picture): string {
  const box = /viewBox="([\d. -]+)"/.exec(svg)?.[1] ?? '0 0 1 1';
  // The page sets the font. Roles of parts would contradict that the whole is one picture.
  const content = svg
    .replace(/^<svg[^>]*>/, '')
    .replaceAll(/ (font-family|aria-roledescription)="[^"<>]*"| role="graphics-\w+"/g, '');
  const name = html`<title id="${id}-name">${title}</title><desc id="${id}-says">${summary}</desc>`;
  return html`<svg role="img" aria-labelledby="${id}-name" aria-describedby="${id}-says" viewBox="${box}">${name}${trusted(content)}`.toString();
}
