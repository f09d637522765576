import { z } from 'zod';
import { canonicalBody } from '../../core/domain/body.ts';
import { foldReference } from '../../core/domain/ids.ts';
import { formatMinor, isAboveLimit } from '../../core/domain/money.ts';
import type { PayoutState } from '../../core/domain/payout.ts';
import { successorCells, successorReference } from '../../core/domain/successor-name.ts';
import { existingReferences } from '../../core/ledger/batches.ts';
import type { HoldReason } from '../../core/ledger/hold-reasons.ts';
import { chainsOf, type Link, type NewSuccessor } from '../../core/ledger/successors.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { PayoutEvidence } from '../../watching/evidence/evidence.sql.ts';

const texts = z.array(z.string());

/** Makes the payouts that pay these again, in their order: the same row and money under a new reference (P20, P22). */
export async function draftSuccessors(
  trx: Trx,
  cases: readonly PayoutEvidence[],
  rules: { at: string; prefix: string; stateOf: (one: PayoutEvidence) => PayoutState },
): Promise<NewSuccessor[]> {
  const chains = await chainsOf(trx, cases.map(lastLink));
  const drafts: NewSuccessor[] = [];
  const ours = new Set<string>();
  for (const one of cases) {
    const reference = await freeReference(trx, one, chains, { prefix: rules.prefix, taken: ours });
    ours.add(foldReference(reference));
    drafts.push(draft(one, reference, rules.stateOf(one), rules.at));
  }
  return drafts;
}

/** The reference under which each of these would be paid again, by id (P22). */
export async function successorReferences(
  db: Db | Trx,
  cases: readonly PayoutEvidence[],
  prefix: string,
): Promise<Map<bigint, string>> {
  const chains = await chainsOf(db, cases.map(lastLink));
  const references = new Map<bigint, string>();
  for (const one of cases)
    references.set(one.payout.id, await freeReference(db, one, chains, { prefix, taken: new Set() }));
  return references;
}

/** Finds a free reference, one query for each candidate: the first is nearly always free. */
async function freeReference(
  db: Db | Trx,
  one: PayoutEvidence,
  chains: Awaited<ReturnType<typeof chainsOf>>,
  rules: { prefix: string; taken: ReadonlySet<string> },
): Promise<string> {
  const last = lastLink(one);
  const { root, length } = chains.get(last.id) ?? { root: last.reference, length: 1 };
  const taken = new Set<string>(rules.taken);
  for (;;) {
    const reference = successorReference({ root, number: length + 1 }, rules.prefix, (key) => taken.has(key));
    const key = foldReference(reference);
    const found = await existingReferences(db, [key]);
    if (found.size === 0) return reference;
    taken.add(key);
  }
}

/** The payout that a new successor follows: itself, or the last successor that was cancelled. */
export function lastLink({ payout, cancelled }: PayoutEvidence): Link {
  return cancelled ?? payout;
}

function draft(one: PayoutEvidence, reference: string, state: PayoutState, at: string): NewSuccessor {
  const { payout, batch } = one;
  const { account_number, account_name, bank_code, amount, currency, narration, sender_name, type } = payout;
  const money = { account_number, account_name, bank_code, currency, narration, sender_name };
  const body = canonicalBody({
    ...money,
    amount: formatMinor(amount, currency),
    reference,
    ...(type === 'EFT' || type === 'RTC' ? { type } : {}),
  });
  const columns = texts.parse(JSON.parse(batch.columns));
  const cells = successorCells(columns, texts.parse(JSON.parse(payout.cells)), reference);
  return {
    ...money,
    amount,
    type,
    reference,
    reference_key: foldReference(reference),
    body,
    cells: JSON.stringify(cells),
    state,
    batch_id: payout.batch_id,
    row_number: payout.row_number,
    payee_id: payout.payee_id,
    name_letters: payout.name_letters,
    payee_key: payout.payee_key,
    successor_of: lastLink(one).id,
    updated_at: at,
  };
}

/** The reason to hold a batch with payouts above `submission.payout_limit`; null when none is above it. */
export function overLimit(
  cases: readonly PayoutEvidence[],
  limits: Record<string, string>,
): HoldReason | null {
  const above = cases.flatMap(({ payout: { amount, currency, row_number } }) => {
    const isAbove = isAboveLimit(amount, currency, limits);
    return isAbove ? [{ row: Number(row_number), currency, amount: formatMinor(amount, currency) }] : [];
  });
  if (above.length === 0) return null;
  return { kind: 'payout_limit', count: above.length, first: above.slice(0, 5), scope: 'successors' };
}
