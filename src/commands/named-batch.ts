import type { App } from '../app/app.ts';
import { getBatch } from '../ledger/batches.ts';
import type { Batch } from '../storage/tables/tables.ts';
import { Stop } from './result.ts';

/** The batch that a person named. Stops with 2 when there is none. */
export async function namedBatch({ ledger }: App<'looking'>, name: string): Promise<Batch> {
  const batch = await getBatch(ledger.db, name);
  if (!batch) throw new Stop(2, `no batch "${name}" in this ledger: counterfoil status lists them`);
  return batch;
}

/** The same, but refuses a batch that is still being taken in: its payouts are held until their history begins (P23). */
export async function loadedBatch(app: App<'looking'>, [name]: string[]): Promise<Batch> {
  if (!name) throw new Stop(2, 'name a batch, or say --mode for everything');
  const batch = await namedBatch(app, name);
  refuseLoading(batch);
  return batch;
}

/** Stops for a batch that is still being taken in: no command may move its payouts (P23). */
export function refuseLoading({ id, phase }: Batch): void {
  if (phase !== 'loading') return;
  throw new Stop(2, `${id} is still being taken in; run the command again when it is loaded`);
}
