import { createHash } from 'node:crypto';
import { restsOn, sources } from './payout.ts';

/** The address and keys, as fingerprints, with which a request was sent (P31). A ledger has only one mode. */
export type Origin = { baseUrl: string; secretKey: string; orderKey: string };

/**
 * The account that a configuration reaches. `own` is how this process sends and asks. The other keys are configured
 * beside the first during a rotation; they count as the same account's.
 */
export type ServiceAccount = { own: Origin; secretKeys: readonly string[]; orderKeys: readonly string[] };

/** An account as one process reaches it; `originId` is its own origin's id in the ledger. */
export type Standpoint = { account: ServiceAccount; originId: bigint };

type Keys = { secretKeys: readonly string[]; encryptionKeys: readonly string[] };

/** The account of these keys at this address; `orders`: which kind of key is the Bearer token of bank_transfer. */
export function accountOf(
  baseUrl: string,
  keys: Keys,
  orders: 'secret' | 'encryption',
): ServiceAccount | null {
  const secretKeys = keys.secretKeys.map(fingerprint);
  const encryptionKeys = keys.encryptionKeys.map(fingerprint);
  const [secretKey] = secretKeys;
  if (secretKey === undefined) return null;
  const orderKey = (orders === 'encryption' ? encryptionKeys[0] : undefined) ?? secretKey;
  const own = { baseUrl: baseUrl.replace(/\/+$/, ''), secretKey, orderKey };
  return { own, secretKeys, orderKeys: [...secretKeys, ...encryptionKeys] };
}

/** Identifies a key without revealing it: 12 hex digits. */
export function fingerprint(key: string): string {
  return createHash('sha256').update(`counterfoil origin ${key}`).digest('hex').slice(0, 12);
}

/** True where a question to this account reaches the account that the order went to. */
export function isOfAccount(origin: Origin, { own, secretKeys, orderKeys }: ServiceAccount): boolean {
  if (origin.baseUrl !== own.baseUrl) return false;
  return secretKeys.includes(origin.secretKey) && orderKeys.includes(origin.orderKey);
}

/** The account of what was signed with this key: a key that is not of `account` speaks for itself alone (P31). */
export function accountOfKey(account: ServiceAccount, secretKey: string | null): ServiceAccount {
  return secretKey === null || account.secretKeys.includes(secretKey)
    ? account
    : { ...account, secretKeys: [secretKey] };
}

/** Why an answer to this account proves nothing about what went to that origin, and what would help (P31). */
export function whyElsewhere(went: Origin, { own }: Pick<ServiceAccount, 'own'>): string {
  const asks = `this configuration asks ${own.baseUrl} with key ${own.secretKey}, and what that does not show proves nothing`;
  return `${sentTo(went)}; ${asks}. Configure the address and key that it was sent with; where both are the same account's, a reconciliation of the whole list shows it`;
}

function sentTo({ baseUrl, secretKey, orderKey }: Origin): string {
  const ordered = orderKey === secretKey ? '' : ` (ordered with key ${orderKey})`;
  return `the earlier attempt went to ${baseUrl} with key ${secretKey}${ordered}`;
}

/** The identifiers by which the ledger knows a payout's transfer, and the evidence for them. */
type KnownAs = { transferId: string | null; trx: string | null; evidence: string };

/**
 * True if a transfer of our reference is the one that a payout was accepted as, whichever account shows it (P31). Ids
 * that only a webhook named do not count: the webhook may come from the account that is asked.
 */
export function isKnownAs(
  known: KnownAs,
  transfer: { transferId: string | null; trx: string | null },
): boolean {
  if (sources.every((one) => one === 'webhook' || !restsOn(known.evidence, one))) return false;
  const same = (one: string | null, other: string | null): boolean => one !== null && one === other;
  return same(transfer.transferId, known.transferId) || same(transfer.trx, known.trx);
}

export function originText({ baseUrl, secretKey }: Origin): string {
  return `${baseUrl} with key ${secretKey}`;
}
