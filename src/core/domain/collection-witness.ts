import { paymentRecordsIn, referencesOf, statusKeys } from './collection-records.ts';
import type { WitnessStatus } from './payout.ts';
import { type Fields, first, isEnvelope, isFields, readInstant, readStatus } from './witness.ts';

/** What a webhook or the verify endpoint says of one collection; amounts are the exact text of the service. */
export type CollectionWitness = {
  status: WitnessStatus;
  trx: string | null;
  amount: string | null;
  currency: string | null;
  domain: string | null;
  fee: string | null;
  /** ISO UTC; a time without a zone was read as Lagos time. */
  paidAt: string | null;
};

/** `contradictory`: one reply holds several witnesses about the collection that cannot all be true. */
export type CollectionFinding =
  | { kind: 'witness'; witness: CollectionWitness }
  | { kind: 'contradictory'; witnesses: CollectionWitness[] }
  | { kind: 'none' };

/**
 * Searches a parsed reply or webhook for what it says of the collection with this reference or trx (P13). Every object
 * that describes the collection must agree. Envelope fields and details inside a payment are no witness. A reply that
 * reports failure shows no collection.
 */
export function findCollectionWitness(
  json: unknown,
  ours: { referenceKey: string; trx: string | null },
): CollectionFinding {
  if (isFields(json) && json.success === false) return { kind: 'none' };
  const records = paymentRecordsIn(json).filter(({ fields }) => speaksOf(fields, ours));
  const readings = records.map(({ fields }) => ({
    trx: first(fields, ['trx']),
    witness: readWitness(fields),
  }));
  const all = readings.flatMap(({ witness }) => (witness ? [[keyOf(witness), witness] as const] : []));
  const witnesses = [...new Map(all).values()];
  // A payer may have failed before: in a list, a failure under another trx says nothing about the money that arrived.
  const oneList = new Set(records.map(({ place }) => place)).size === 1;
  const arrived = witnesses.filter(({ status }) => status === 'success');
  const [only] = arrived.length === 1 ? arrived : witnesses.length === 1 ? witnesses : [];
  if (only && readings.every((one) => agrees(one.witness, only) || (oneList && isOtherTry(one, only))))
    return { kind: 'witness', witness: only };
  return witnesses.length > 1 ? { kind: 'contradictory', witnesses } : { kind: 'none' };
}

function agrees(witness: CollectionWitness | null, only: CollectionWitness): boolean {
  return witness !== null && keyOf(witness) === keyOf(only);
}

function isOtherTry(one: { trx: string | null }, arrived: CollectionWitness): boolean {
  return one.trx !== null && arrived.trx !== null && one.trx !== arrived.trx;
}

function speaksOf(
  fields: Fields,
  { referenceKey, trx }: { referenceKey: string; trx: string | null },
): boolean {
  return (trx !== null && first(fields, ['trx']) === trx) || referencesOf(fields).includes(referenceKey);
}

/** Reads an object's witness; null for an envelope, an unknown status, or two different statuses in one object. */
function readWitness(fields: Fields): CollectionWitness | null {
  const statuses = new Set(statusKeys.flatMap((key) => readStatus(first(fields, [key]) ?? '') ?? []));
  const [status] = statuses;
  if (status === undefined || statuses.size > 1 || isEnvelope(fields)) return null;
  const paid = first(fields, ['paid_at', 'paidAt']);
  const at = paid === null ? null : readInstant(paid);
  return {
    status,
    trx: first(fields, ['trx']),
    amount: first(fields, ['amount']),
    currency: first(fields, ['currency'])?.toUpperCase() ?? null,
    domain: first(fields, ['domain'])?.toLowerCase() ?? null,
    fee: first(fields, ['fee']),
    paidAt: at === null ? null : new Date(at).toISOString(),
  };
}

function keyOf({ status, trx, amount, currency, domain }: CollectionWitness): string {
  return JSON.stringify([status, trx, amount, currency, domain]);
}
