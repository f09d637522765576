import { archiveLedger } from '../../src/custody/archive/archive-ledger.ts';

/** Archives the ledger at a path, before an instant and as of another, and says when each step begins. */
const [path = '', before = '', at = ''] = process.argv.slice(2);
await archiveLedger({ path, before, now: () => at, onStep: (step) => process.stdout.write(`${step}\n`) });
