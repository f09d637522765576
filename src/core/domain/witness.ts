import { bareAccount } from './bare-account.ts';
import type { Difference } from './contradiction.ts';
import { decimalToMinor, formatMinor } from './money.ts';
import type { Mode, RecordSource, WitnessStatus } from './payout.ts';

/** The known facts about the transfer that a reply should describe; `amount` in minor units of `currency`. */
export type ExpectedTransfer = {
  reference: string;
  referenceKey: string;
  transferId: string | null;
  trx: string | null;
  amount: bigint;
  currency: string;
  accountNumber: string;
  bankCode: string;
  mode: Mode;
  /** When the first POST was about to be made, by {@link firstIntentOf}; null if there was none. */
  firstIntentAt: string | null;
  /** Some attempt was answered with an acceptance: the transfer is ours, whatever a clock says (P33). */
  accepted: boolean;
};

/** What a reply says of one transfer. `conflict`: it names our transfer, but what it shows of it is not ours (P15). */
export type WitnessFinding =
  | { kind: 'witness'; witness: Witness }
  | { kind: 'conflict'; fields: Difference[]; status: WitnessStatus }
  | { kind: 'none' };

/** How far the service's clock may run behind ours before its `created_at` contradicts us. */
const clockSkewMs = 5 * 60_000;
const deepest = 8;
const mostObjects = 5_000;

export type Fields = Record<string, unknown>;
type Candidate = { byId: boolean; status: WitnessStatus | null; fields: Fields; differences: Difference[] };

/**
 * Searches a parsed reply or webhook for an object with our reference, or a known trx or transfer id, and a status
 * (P13). Its other fields must agree with ours (P15). Fields of the envelope are no witness, and a reply that says no
 * proves no end.
 */
export function findWitness(
  json: unknown,
  ours: ExpectedTransfer,
  source: Witness['source'],
): WitnessFinding {
  // A reply that says no may echo the request with a "failed" of its own: that is not a transfer's status.
  const denied = isFields(json) && json.success === false;
  const all = objectsIn(json).flatMap((fields) => {
    const one = candidate(fields, ours);
    return one === null || (denied && isOver(one.status)) ? [] : [one];
  });
  const named = all.some((c) => c.byId) ? all.filter((c) => c.byId) : all;
  const agreeing = named.filter((c) => c.differences.length === 0);
  const first = agreeing[0] ?? named[0];
  if (!first) return { kind: 'none' };
  const statuses = new Set(agreeing.map((c) => c.status));
  // P17: nothing has ended while another object under our reference, whatever its other fields, has not.
  const standing = isOver(first.status) ? all.find((c) => !isOver(c.status)) : undefined;
  const isDoubtful = denied && first.status === 'success';
  if (statuses.size === 1 && first.status !== null && !standing && !isDoubtful)
    return { kind: 'witness', witness: toWitness(first.fields, first.status, source) };
  const status = first.status ?? 'pending';
  if (standing && standing.differences.length > 0)
    return { kind: 'conflict', fields: standing.differences, status: standing.status ?? 'pending' };
  if (first.differences.length > 0) return { kind: 'conflict', fields: first.differences, status };
  const statusText = [...new Set([...statuses, ...(standing ? [standing.status] : [])])]
    .map((s) => s ?? 'contradictory')
    .join(' and ');
  const actual = isDoubtful ? `${statusText}, in a reply that says no` : statusText;
  return { kind: 'conflict', fields: [{ field: 'status', expected: 'one status', actual }], status };
}

/** True for the service's own "not found": its envelope with `success` false and 04, 05 or 12 (P16). */
export function isNotFound(json: unknown, httpStatus: number): boolean {
  if (!isFields(json) || json.success !== false || httpStatus >= 500) return false;
  if (httpStatus === 401 || httpStatus === 403 || httpStatus === 429) return false;
  return ['04', '05', '12'].includes((text(json.status) ?? '').padStart(2, '0'));
}

/** Parses a status as lists, details and webhooks write it; null for any other text. */
export function readStatus(word: string): WitnessStatus | null {
  switch (word.trim().toLowerCase()) {
    case 'pending':
      return 'pending';
    case 'success':
      return 'success';
    case 'failed':
      return 'failed';
    case 'returned':
    case 'reversed':
    case 'refunded':
    case '96':
      return 'returned';
    default:
      return null;
  }
}

/** Parses a service time to milliseconds since the epoch, with any fraction of seconds; without a zone it is Lagos time. */
export function readInstant(value: string): number | null {
  // The service's own form takes the fast path.
  const usual = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(usual)) return usual;
  const parts = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s?(Z|[+-]\d\d:?\d\d)?$/.exec(value.trim());
  if (!parts) return null;
  const [, day, time, fraction = '', zone = '+01:00'] = parts;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const ms = Date.parse(`${day}T${time}${offset}`);
  return Number.isNaN(ms) ? null : ms + Number(fraction.slice(1, 4).padEnd(3, '0'));
}

/**
 * When the first intent was, ISO UTC, for comparison with the service's times. `clockOffMs`: our clock less the service's
 * then. A clock of ours that was ahead must not make our own transfer look older than its order (P15, P33).
 */
export function firstIntentOf(at: string | null, clockOffMs: bigint | null): string | null {
  if (at === null || clockOffMs === null || clockOffMs <= 0n) return at;
  return new Date(Date.parse(at) - Number(clockOffMs)).toISOString();
}

/** True unless it was made before the first intent, less clock skew (P15). An acceptance outweighs any clock (P33). */
export function couldBeOurs(
  createdAt: string | null,
  { firstIntentAt, accepted }: Pick<ExpectedTransfer, 'firstIntentAt' | 'accepted'>,
): boolean {
  if (accepted) return true;
  const created = createdAt === null ? null : readInstant(createdAt);
  if (created === null || firstIntentAt === null) return true;
  return created >= Date.parse(firstIntentAt) - clockSkewMs;
}

function isOver(status: WitnessStatus | null): boolean {
  return status === 'failed' || status === 'returned';
}

function candidate(fields: Fields, ours: ExpectedTransfer): Candidate | null {
  const references = Object.entries(fields).flatMap(([key, value]) =>
    /^((payout|merchant|transfer)_)?ref(erence)?$/i.test(key) ? (text(value)?.toLowerCase() ?? []) : [],
  );
  const byReference = references.includes(ours.referenceKey);
  // A bare `id` may identify anything: in an object with another reference it is not our transfer's.
  const bare = byReference || references.length === 0 ? first(fields, ['id']) : null;
  const byId =
    same(first(fields, ['transfer_id', 'transferId']) ?? bare, ours.transferId) ||
    same(first(fields, ['trx']), ours.trx);
  if ((!byId && !byReference) || isEnvelope(fields)) return null;
  const words = ['status', 'statusMessage', 'status_message', 'transfer_status', 'state'];
  const statuses = new Set(words.flatMap((key) => readStatus(text(fields[key]) ?? '') ?? []));
  if (statuses.size === 0) return null;
  const status = statuses.has('returned')
    ? 'returned'
    : statuses.size === 1
      ? ([...statuses][0] ?? null)
      : null;
  return { byId, status, fields, differences: differences(fields, ours) };
}

/** True for an envelope: it says how the request went; only its contents describe the transfer. */
export function isEnvelope(fields: Fields): boolean {
  if (typeof fields.success === 'boolean' || isFields(fields.data) || Array.isArray(fields.data)) return true;
  const speaksOfMoney = ['amount', 'currency', 'account_number', 'trx', 'transfer_id', 'created_at'];
  return text(fields.message) !== null && !speaksOfMoney.some((key) => text(fields[key]) !== null);
}

function differences(fields: Fields, ours: ExpectedTransfer): Difference[] {
  const list: Difference[] = [];
  const check = (field: string, expected: string, actual: string | null, agrees: boolean): void => {
    if (actual !== null && !agrees) list.push({ field, expected, actual });
  };
  const amount = first(fields, ['amount']);
  check(
    'amount',
    formatMinor(ours.amount, ours.currency),
    amount,
    amount !== null && decimalToMinor(amount, ours.currency) === ours.amount,
  );
  const currency = first(fields, ['currency']);
  check('currency', ours.currency, currency, currency?.toUpperCase() === ours.currency);
  const account = first(fields, ['account_number', 'accountNumber']);
  check('account_number', ours.accountNumber, account, isAccount(account, ours.accountNumber));
  const bank = first(fields, ['bank_code', 'bankCode']);
  check('bank_code', ours.bankCode, bank, bank === ours.bankCode);
  const domain = first(fields, ['domain']);
  check('domain', ours.mode, domain, domain?.toLowerCase() === ours.mode);
  const created = first(fields, ['created_at', 'createdAt']);
  check('created_at', `not before ${ours.firstIntentAt}`, created, couldBeOurs(created, ours));
  return list;
}

/** True for the account ordered, also without its leading zeros: the service may write it as a JSON number. */
function isAccount(theirs: string | null, ours: string): boolean {
  return theirs === ours || theirs === bareAccount(ours);
}

/** P13: an empty field of a listed row says nothing of the beneficiary and cannot disagree. */
export function isBeneficiary(
  listed: { account_number: string; bank_code: string },
  ours: Pick<ExpectedTransfer, 'accountNumber' | 'bankCode'>,
): boolean {
  const { account_number: account, bank_code: bank } = listed;
  return (
    (account === '' || isAccount(account, ours.accountNumber)) && (bank === '' || bank === ours.bankCode)
  );
}

function toWitness(fields: Fields, status: WitnessStatus, source: Witness['source']): Witness {
  const changed = first(fields, ['settled_at', 'paid_at', 'updated_at', 'updatedAt', 'timestamp']);
  const at = changed === null || status === 'pending' ? null : readInstant(changed);
  return {
    source,
    status,
    transferId: first(fields, ['transfer_id', 'transferId', 'id']),
    trx: first(fields, ['trx']),
    fee: first(fields, ['fee']),
    message: first(fields, ['note', 'message', 'reason']),
    settledAt: at === null ? null : new Date(at).toISOString(),
  };
}

/** Every object of the reply, outermost first, to a bounded depth and number. */
function objectsIn(json: unknown): Fields[] {
  const objects: Fields[] = [];
  let level: unknown[] = [json];
  for (let depth = 0; depth < deepest; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (objects.length >= mostObjects) return objects;
      if (isFields(value)) objects.push(value);
      if (typeof value === 'object' && value !== null)
        for (const inner of Object.values(value)) next.push(inner);
    }
    level = next.slice(0, 20 * mostObjects);
  }
  return objects;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first value under these keys; ids and numbers as text, never through a float that would round them. */
export function first(fields: Fields, keys: string[]): string | null {
  for (const key of keys) {
    const value = text(fields[key]);
    if (value !== null) return value;
  }
  return null;
}

function text(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'number' && Number.isFinite(value) ? value.toString() : null;
}

function same(one: string | null, other: string | null): boolean {
  return one !== null && one === other;
}

/** What a source says of one transfer that was checked to be ours (P13, P15). */
export type Witness = {
  source: Exclude<RecordSource, 'response'>;
  status: WitnessStatus;
  transferId: string | null;
  trx: string | null;
  fee: string | null;
  message: string | null;
  /** When the service says it settled or last changed, ISO UTC; null when it does not say. */
  settledAt: string | null;
  /** How many transfers a complete listing shows under the reference, all failed or returned; else absent (P17). */
  transfers?: number;
  /** The ids of all transfers that a listing shows of the payout, if they have ended; otherwise absent. */
  shown?: string[];
};
