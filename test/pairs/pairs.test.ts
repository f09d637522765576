import { expect, it } from 'vitest';
import { allVerbs } from '../../src/verbs/verbs.ts';
import { runPairs } from './child.ts';
import { allElements } from './elements.ts';
import { impossible, impossibleRows } from './impossible.ts';
import { idleElements } from './many-plays.ts';
import { allPlays } from './plays.ts';

const plays = allPlays();

it('puts every two elements side by side, in both orders and at once, each under a number of its own', () => {
  const n = allElements.length;
  expect(plays.filter(({ elements }) => elements.length === 2)).toHaveLength(n * (n - 1) * 1.5 + 2 * n);
  expect(new Set(plays.map(({ number }) => number)).size).toBe(plays.length);
  expect(new Set(plays.map(({ name }) => name)).size).toBe(plays.length);
});

it('puts every three verbs that touch money side by side', () => {
  const names = allVerbs.filter(({ touchesMoney }) => touchesMoney).map(({ name }) => `verb: ${name}`);
  const threes = plays
    .filter(({ elements }) => elements.length === 3)
    .map(({ elements }) => elements.map(({ id }) => id));
  const ofVerbs = threes.filter((ids) => ids.every((id) => names.includes(id)));
  expect(ofVerbs).toHaveLength((names.length * (names.length - 1) * (names.length - 2)) / 6);
});

it('gives a play the number of its name', () => {
  expect(plays.find(({ name }) => name === 'verb: hold → post: refused 24, then')?.number).toBe(996_261_074);
});

it('calls plays impossible for reasons about elements that exist', () => {
  const why = new Set(plays.flatMap((play) => impossible(play) ?? []));
  expect(why).toEqual(new Set(impossibleRows.map((row) => row.why)));
});

it('fails for an element that was played often and never did anything', () => {
  const met = new Map([
    ['hold: balance', { played: 9, did: 0, pairs: 0 }],
    ['hold: person', { played: 9, did: 1, pairs: 0 }],
    ['hold: alike', { played: 2, did: 0, pairs: 0 }],
  ]);
  expect(idleElements({ met })).toEqual(['hold: balance']);
});

it('nobody is paid twice, nothing is lost, false or stuck in a share of the plays', async () => {
  const { failed, run } = await runPairs(['--share', '11/1000', '--seconds', '8', '--threads', '2']);
  expect(failed).toBeNull();
  expect(run).toBeGreaterThan(0);
}, 120_000);
