/** What stopped sending (P11), by the advice it needs. */
export const haltKinds = [
  /** A barrier of the ledger itself, which names its own way out and is not released (P25, P26). */
  'barrier',
  'person',
  /** The service's word about the account: no balance, blocked, and so on. */
  'account',
  /** The service calls our signature wrong. */
  'signature',
  /** Too many outcomes are unknown. */
  'unknowns',
  /** A payout of a canary is unknown, or has not settled in time (P21). */
  'canary_open',
  /** A payout of a canary failed, was refused or came back (P21). */
  'canary_failed',
] as const;

export type HaltKind = (typeof haltKinds)[number];

/** One cause of a halt, for a person to read, and its kind. */
export type HaltCause = { kind: HaltKind; cause: string };

/** The kind of a halt that the service's code brings (P10). */
export function haltKindOf(code: string | null): HaltKind {
  return code === '22' ? 'signature' : 'account';
}

/** What to do before a halt of these kinds is released. */
export type HaltAdvice = 'as_the_cause_says' | 'doctor' | 'reconcile' | 'none';

const adviceOf: Record<HaltKind, HaltAdvice> = {
  barrier: 'as_the_cause_says',
  person: 'none',
  account: 'none',
  signature: 'doctor',
  // Released before anybody asked, the next unknowns would pile up on these.
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

/** Parses the kinds that the ledger keeps in the order of their causes. */
export function readHaltKinds(text: string): HaltKind[] {
  return text.split(' ').flatMap((word) => haltKinds.find((kind) => kind === word) ?? []);
}
