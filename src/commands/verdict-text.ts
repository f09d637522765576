import type { Verdict } from '../domain/verdict.ts';

export const verdictWords: Record<Verdict, string> = {
  reconciled: 'reconciled',
  exceptions: 'exceptions',
  not_compared: 'not compared',
};
