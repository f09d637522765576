import { shutGate as shut } from '../../../src/ledger/custody/gate.ts';
import { placeFor } from './databases.ts';

export * from '../../../src/ledger/custody/gate.ts';

export const shutGate: typeof shut = async (where) => shut(await placeFor(where));
