import { expect, it } from 'vitest';
import { palettes, terminalSvg } from '../../config/docs/terminal-picture.ts';

const start = String.fromCharCode(27);
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>(.*)<\/text>/g)].map(([, text]) => text ?? '');

it('draws the colours of a terminal, and text as text', () => {
  const svg = terminalSvg(`a < b ${start}[31mhigh${start}[39m, ${start}[1mbold${start}[0m`, palettes.light);
  expect(textsOf(svg)).toEqual([
    'a &lt; b <tspan fill="#b3261e">high</tspan>, <tspan font-weight="bold">bold</tspan>',
  ]);
});

it('draws a progress bar as it ended', () => {
  const bar = `${start}7${start}[0Gsending 0/12${start}[0K${start}[0Gsending 12/12${start}[0K${start}8\r`;
  expect(textsOf(terminalSvg(`${bar}\ndone`, palettes.dark))).toEqual(['sending 12/12', 'done']);
});
