import { openApp } from '../../../app/app.ts';
import { batchesBeginning } from '../../../core/ledger/batches.ts';
import { referencesBeginning } from '../../../core/ledger/payout-list.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import { hushed, loadSettings } from '../context/context.ts';
import { hasLedger } from '../context/ledger-there.ts';
import type { Handler } from '../context/world.ts';

/** More names than this help nobody to choose. */
const most = 200;

const lists: Record<string, (db: Db, beginning: string) => Promise<string[]>> = {
  batches: async (db, beginning) => (await batchesBeginning(db, beginning, most)).map(({ id }) => id),
  references: (db, beginning) => referencesBeginning(db, beginning, most),
};

/**
 * `complete batches|references [BEGINNING]`: names for a completion script, one a line. It reads the ledger and never
 * creates one. A person who presses Tab wants no error: where nothing can be read, there are no names.
 */
export const complete: Handler = async (context, [what = '', beginning = '']) => {
  const names = await namesOf(hushed(context), what, beginning).catch(() => []);
  return { code: 0, lines: names, json: { shape: 'complete', fields: { names } } };
};

async function namesOf(context: Parameters<Handler>[0], what: string, beginning: string): Promise<string[]> {
  const config = await loadSettings(context);
  const list = lists[what];
  if (!list || !(await hasLedger(config))) return [];
  const app = await openApp('looking', { config, access: 'reads' });
  try {
    return await list(app.ledger.db, beginning);
  } finally {
    await app.close();
  }
}
