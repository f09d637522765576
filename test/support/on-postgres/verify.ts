import { verifyLedger as verify } from '../../../src/custody/verify-ledger.ts';
import { placeFor } from './databases.ts';

export * from '../../../src/custody/verify-ledger.ts';

export const verifyLedger: typeof verify = async (where, onProgress) =>
  verify(await placeFor(where), onProgress);
