import { foldReference } from './ids.ts';
import { keptReference } from './others-reference.ts';
import { type Fields, first, isEnvelope, isFields } from './witness.ts';

/** An object of a reply that describes one payment. Rows of one list have the same `place`, which holds no indices. */
type PaymentRecord = { place: string; fields: Fields };

export const statusKeys = ['status', 'statusMessage', 'status_message', 'transaction_status', 'state'];

const deepest = 8;
const mostNodes = 20_000;

/**
 * Every object of a parsed reply that describes a payment, however nested or wrapped. Objects inside it are details and
 * never payments of their own: payers and shops can write anything there, even a reference and a status. For the same
 * reason, metadata and customer data are skipped.
 */
export function paymentRecordsIn(json: unknown): PaymentRecord[] {
  if (isFields(json) && !isEnvelope(json) && isRecord(json)) return [{ place: '', fields: json }];
  const records: PaymentRecord[] = [];
  let level = inside('', json);
  for (let depth = 1; depth < deepest && level.length > 0; depth++) {
    const wrappers: Node[] = [];
    for (const { place, value } of level) {
      if (isFields(value) && isRecord(value)) records.push({ place, fields: value });
      else wrappers.push({ place, value });
    }
    level = wrappers.flatMap(({ place, value }) => inside(place, value)).slice(0, mostNodes);
  }
  return records;
}

/** Every reference in this object, in the form in which the ledger compares references. */
export function referencesOf(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([key, value]) =>
    /^((transaction|collection|merchant|payment)_)?ref(erence)?$/i.test(key) && typeof value === 'string'
      ? [foldReference(keptReference(value))]
      : [],
  );
}

type Node = { place: string; value: unknown };

function inside(place: string, value: unknown): Node[] {
  if (Array.isArray(value)) return value.map((one: unknown) => ({ place: `${place}[]`, value: one }));
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    typeof one !== 'object' || one === null || /^(meta|meta_?data|custom.*)$/i.test(key)
      ? []
      : [{ place: `${place}.${key}`, value: one }],
  );
}

/** A wrapper may echo the reference alone; an object with a status or an amount too is the payment itself. */
function isRecord(fields: Fields): boolean {
  const named = referencesOf(fields).some((one) => one !== '') || first(fields, ['trx']) !== null;
  const status = first(fields, statusKeys) !== null;
  const amount = first(fields, ['amount']) !== null;
  return [named, status, amount].filter(Boolean).length > 1;
}
