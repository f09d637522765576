import { openLedger as open } from '../../../src/custody/open-ledger.ts';
import { placeFor } from './databases.ts';

export * from '../../../src/custody/open-ledger.ts';

/** In the tests' place of the real one: a file's name stands for a database of its own. */
export const openLedger: typeof open = async (where, options) => open(await placeFor(where), options);
