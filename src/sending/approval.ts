import { decimalToMinor, formatMinor } from '../core/domain/money.ts';
import type { ApprovalCause, HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Brakes } from './brakes.ts';
import { needsApprovalOfPayees, type PayeeRule } from './payee-facts.ts';

type Rule = Pick<Brakes, 'approval' | 'approvalAbove'>;

/** An account of this machine that dropped a batch or approves one. `uid` is null where accounts have no number. */
export type OsUser = { name: string; uid: number | null };

/** Returns the account that called sudo, from the variables that sudo sets; null where sudo was not used. */
export function behindSudo(env: Record<string, string | undefined>): OsUser | null {
  const { SUDO_UID: uid, SUDO_USER: name } = env;
  if (uid === undefined || !/^\d+$/.test(uid)) return null;
  return { name: name || `uid-${uid}`, uid: Number(uid) };
}

/** Why a batch of these totals needs a second person's approval; null when the rule asks for none. */
export function approvalAsked(rule: Rule, totals: ReadonlyMap<string, bigint>): ApprovalCause | null {
  if (rule.approval === 'none') return null;
  if (rule.approval === 'always' || rule.approval === 'callback') return { kind: rule.approval };
  const above = approvalLimits(rule).flatMap(([currency, limit]) => {
    const total = totals.get(currency) ?? 0n;
    const shown = (minor: bigint): string => formatMinor(minor, currency);
    return total > limit ? [{ currency, total: shown(total), limit: shown(limit) }] : [];
  });
  return above.length > 0 ? { kind: 'above', totals: above } : null;
}

/**
 * Whether the server of `submission.approval_url` may decide. What names a person waits for one: a server sees totals, and
 * not whom they pay (P37).
 */
const isForServer: Record<ApprovalCause['kind'], boolean> = {
  callback: true,
  unapproved: false,
  successor: true,
  original: true,
  always: false,
  above: false,
  payees: false,
};

/** True for an approval that the server may give. */
export function serverMayApprove(reason: HoldReason): boolean {
  return reason.kind === 'approval' && isForServer[reason.why.kind];
}

/** True for a cause that only a person's approval ends. */
export function isForPerson({ kind }: ApprovalCause): boolean {
  return !isForServer[kind];
}

/** How the name of every server that approves begins. */
export const serverPrefix = 'callback:';

/** True for an approval that the server gave. */
export function isByServer({ by }: { by: string }): boolean {
  return by.startsWith(serverPrefix);
}

/** True where a batch may have to wait for a second person, whatever is in it. */
export function asksSecondPerson({
  approval,
  payees,
}: Pick<Rule, 'approval'> & { payees: PayeeRule }): boolean {
  return approval !== 'none' || needsApprovalOfPayees(payees);
}

/** The totals in minor units above which a batch needs an approval. */
export function approvalLimits({ approvalAbove }: Rule): [currency: string, minor: bigint][] {
  return Object.entries(approvalAbove).flatMap(([currency, text]) => {
    const minor = decimalToMinor(text, currency);
    return minor === null ? [] : [[currency, minor] as [string, bigint]];
  });
}

/** An account that dropped or mended a batch. */
export type Maker = OsUser & { did?: 'dropped' | 'mended' };

/**
 * True where one of these accounts of a person is the maker: a person approves no batch of their own. `accounts` are all
 * accounts of one person, such as the one behind sudo; one is enough. Without numbers the names decide, and those of two
 * people differ by more than their case.
 */
export function isAmong(maker: OsUser, accounts: readonly OsUser[]): boolean {
  return accounts.some((one) =>
    one.uid !== null && maker.uid !== null
      ? one.uid === maker.uid
      : one.name.toLowerCase() === maker.name.toLowerCase(),
  );
}
