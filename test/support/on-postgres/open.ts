import { openLedger as open } from '../../../src/ledger/open.ts';
import { placeFor } from './databases.ts';

export * from '../../../src/ledger/open.ts';

/** In the tests' place of the real one: a file's name stands for a database of its own. */
export const openLedger: typeof open = async (where, options) => open(await placeFor(where), options);
