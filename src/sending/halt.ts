import { z } from 'zod';
import type { AdvisedReason } from '../core/domain/advice.ts';
import { payoutStates } from '../core/domain/payout.ts';

const text = z.string();
const count = z.int().nonnegative();

const canaryFailure = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('went_wrong'), reference: text, state: z.enum(payoutStates) }),
  z.strictObject({ kind: z.literal('not_settled'), reference: text, hours: z.number() }),
  /** It is held though its batch is not: no release sends it. */
  z.strictObject({ kind: z.literal('withheld'), reference: text }),
]);

/** What the service answered, to which payout. */
const answer = { code: text.nullable(), message: text, reference: text };
const canary = { batch: text, failure: canaryFailure };

/** What stopped all sending (P11); each kind needs its own advice. */
const haltCause = z.discriminatedUnion('kind', [
  /** `by`: the holder of the token, where the dashboard was used. */
  z.strictObject({ kind: z.literal('person'), by: text.optional() }),
  /** The service's answer about the account: no balance, blocked, and so on. */
  z.strictObject({ kind: z.literal('account'), ...answer }),
  /** The service calls our signature wrong. */
  z.strictObject({ kind: z.literal('signature'), ...answer }),
  /** Too many outcomes are unknown: `count` of the last `of`. */
  z.strictObject({ kind: z.literal('unknowns'), count, of: count }),
  /** A payout of a canary is unknown, or has not settled in time (P21). */
  z.strictObject({ kind: z.literal('canary_open'), ...canary }),
  /** A payout of a canary failed, was refused or came back (P21). */
  z.strictObject({ kind: z.literal('canary_failed'), ...canary }),
]);

/** Why the canary of a batch failed. */
export type CanaryFailure = z.infer<typeof canaryFailure>;
/** One cause of a halt. */
export type HaltCause = z.infer<typeof haltCause>;
/** A barrier of the ledger itself, which names its own way out and which no release lifts (P25, P26). */
export type BarrierCause = { kind: 'barrier' } & AdvisedReason;
export type HaltKind = (HaltCause | BarrierCause)['kind'];

/** A halt in force: its causes, and since when. */
export type Halt = { at: string; causes: (HaltCause | BarrierCause)[] };

/** A barrier as a halt. */
export function barrierHalt({ at, why, advice }: AdvisedReason & { at: string }): Halt {
  return { at, causes: [{ kind: 'barrier', why, advice }] };
}

/** Reads a cause from its JSON text in the ledger. Throws where the text is not one: a halt must not vanish unread. */
export function readHaltCause(stored: string): HaltCause {
  return haltCause.parse(JSON.parse(stored));
}

/** The kind of halt that the service's code causes (P10). */
export function haltKindOf(code: string | null): 'signature' | 'account' {
  return code === '22' ? 'signature' : 'account';
}

/** What to do before a halt of these kinds is released. */
export type HaltAdvice = 'as_the_cause_says' | 'doctor' | 'reconcile' | 'none';

const adviceOf: Record<HaltKind, HaltAdvice> = {
  barrier: 'as_the_cause_says',
  person: 'none',
  account: 'none',
  signature: 'doctor',
  // Without a look-up first, the next unknowns would add to these.
  unknowns: 'reconcile',
  canary_open: 'reconcile',
  canary_failed: 'none',
};
const byUrgency: readonly HaltAdvice[] = ['as_the_cause_says', 'doctor', 'reconcile'];

/** The advice for a halt with several causes: the most urgent. */
export function haltAdvice(kinds: readonly HaltKind[]): HaltAdvice {
  const given = kinds.map((kind) => adviceOf[kind]);
  return byUrgency.find((advice) => given.includes(advice)) ?? 'none';
}
