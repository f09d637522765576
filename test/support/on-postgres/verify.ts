import { verifyLedger as verify } from '../../../src/ledger/verify/verify.ts';
import { placeFor } from './databases.ts';

export * from '../../../src/ledger/verify/verify.ts';

export const verifyLedger: typeof verify = async (where, onProgress) =>
  verify(await placeFor(where), onProgress);
