import { z } from 'zod';
import { listStandings, verdicts } from '../../core/domain/verdict.ts';
import { alertKind } from '../../findings/kinds.ts';
import type { AlertChange } from './changes.ts';

const counts = z.record(z.string(), z.number());
const amounts = z.record(z.string(), z.string());

const notice = z.strictObject({
  change: z.enum(['raised', 'grown', 'repeated', 'cleared']),
  kind: alertKind,
  subject: z.string(),
  count: z.number(),
  totals: amounts,
  names: z.array(z.string()),
  /** ISO UTC. */
  since: z.string(),
});
const digest = z.strictObject({
  run: z.string(),
  list: z.enum(listStandings).nullable(),
  verdict: z.enum(verdicts),
  currencies: z.record(z.string(), z.enum(verdicts)),
  payouts: counts,
  /** By currency and state. */
  totals: z.record(z.string(), amounts),
  /** What is open, by age in days. */
  ages: counts,
  high: z.number(),
});
const content = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('notices'), notices: z.array(notice) }),
  z.strictObject({ kind: z.literal('digest'), digest }),
  z.strictObject({ kind: z.literal('heartbeat') }),
]);

/** One thing to tell about an alert. It holds counts, totals and our own names, and nothing else. */
export type Notice = z.infer<typeof notice>;
/** The result of a scheduled reconciliation. */
export type Digest = z.infer<typeof digest>;
/** What a message says, as typed facts; `message-words.ts` makes its words. */
export type Content = z.infer<typeof content>;

/** Reads the content of a message from its JSON text in the ledger. Throws where the text is none. */
export function readContent(stored: string): Content {
  return content.parse(JSON.parse(stored));
}

/** The changes that people are told, as of `at`, ISO UTC. */
export function noticesOf(changes: readonly AlertChange[], at: string): Notice[] {
  return changes.flatMap((change) => noticeOf(change, at) ?? []);
}

function noticeOf(one: AlertChange, at: string): Notice | undefined {
  switch (one.change) {
    case 'rebased':
      return undefined;
    case 'cleared': {
      const { alert } = one;
      return { ...factsOf({ ...alert, totals: {}, names: [] }), change: 'cleared', since: alert.raisedAt };
    }
    case 'raised':
      return { ...factsOf(one.finding), change: 'raised', since: at };
    case 'grown':
    case 'repeated':
      return { ...factsOf(one.finding), change: one.change, since: one.alert.raisedAt };
  }
}

type Facts = Omit<Notice, 'change' | 'since'>;

function factsOf({ kind: of, subject, count, totals, names }: Facts): Facts {
  return { kind: of, subject, count, totals, names };
}
