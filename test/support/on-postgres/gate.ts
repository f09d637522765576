import { shutGate as shut } from '../../../src/custody/custody-gate.ts';
import { placeFor } from './databases.ts';

export * from '../../../src/custody/custody-gate.ts';

export const shutGate: typeof shut = async (where) => shut(await placeFor(where));
