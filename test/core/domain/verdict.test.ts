import { expect, it } from 'vitest';
import {
  agrees,
  type CurrencyFacts,
  differs,
  exceptionLines,
  isCompared,
  isUsable,
  listStandings,
  needsAPerson,
  type Verdict,
  verdictOf,
  verdicts,
  worstVerdict,
} from '../../../src/core/domain/verdict.ts';

const nothing = { count: 0n, amount: 0n };
const facts = (more: Partial<CurrencyFacts> = {}): CurrencyFacts => ({
  ...(Object.fromEntries(exceptionLines.map((line) => [line, nothing])) as CurrencyFacts),
  ...{ overturned: nothing, imbalance: nothing },
  ...more,
});

it('P30: only a list that is complete, or a valid short cut, is compared with', () => {
  expect(listStandings.filter(isUsable)).toEqual(['complete', 'window']);
  expect(isUsable(null)).toBe(false);
  for (const list of listStandings)
    expect(verdictOf(list, facts()), list).toBe(isUsable(list) ? 'reconciled' : 'not_compared');
});

it('P30: one count or one amount on any line that must be zero is an exception', () => {
  for (const line of [...exceptionLines, 'imbalance'] as const)
    for (const sum of [
      { count: 1n, amount: 0n },
      { count: 0n, amount: -1n },
    ])
      expect(verdictOf('complete', facts({ [line]: sum })), line).toBe('exceptions');
});

it('the verdict on a run is the gravest of its currencies; without any it is none, if the list could be used', () => {
  const worst = (...all: Verdict[]) => worstVerdict('complete', all);
  expect([worst(), worstVerdict('unread', []), worstVerdict('unread', ['reconciled'])]).toEqual([
    ...['none', 'not_compared', 'not_compared'],
  ]);
  expect(worst('reconciled', 'none')).toBe('reconciled');
  expect(worst('reconciled', 'exceptions', 'reconciled')).toBe('exceptions');
  expect(worst('not_compared', 'exceptions')).toBe('not_compared');
  expect(worst('exceptions', 'not_compared')).toBe('not_compared');
});

it('a person must look where something differs or nothing was compared', () => {
  expect(verdicts.filter(agrees)).toEqual(['reconciled']);
  expect(verdicts.filter(differs)).toEqual(['exceptions']);
  expect(verdicts.filter((one) => !isCompared(one))).toEqual(['not_compared']);
  expect(verdicts.filter(needsAPerson)).toEqual(['exceptions', 'not_compared']);
});
