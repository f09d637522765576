import { createHash } from 'node:crypto';
import type { Payout } from '../../core/storage/tables/tables.ts';

/** What identifies a payout for ever, archived or not (P22). Its state, ids and evidence may still change. */
export const identity = [
  'id',
  'reference',
  'reference_key',
  'account_number',
  'bank_code',
  'amount',
  'currency',
  'successor_of',
] as const satisfies readonly (keyof Payout)[];

export type PayoutIdentity = Pick<Payout, (typeof identity)[number]>;

/** SHA-256 over the identities of a batch's payouts, by row and id. */
export function createIdentityDigest(): { add(payout: PayoutIdentity): void; end(): string } {
  const hash = createHash('sha256');
  return {
    add: (payout) => void hash.update(`${JSON.stringify(identity.map((name) => String(payout[name])))}\n`),
    end: () => hash.digest('hex'),
  };
}
