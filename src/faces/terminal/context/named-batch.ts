import type { App } from '../../../app/app.ts';
import { likely } from '../../../core/domain/nearest.ts';
import { batchesBeginning, getBatch } from '../../../core/ledger/batches.ts';
import type { Batch } from '../../../core/storage/tables/tables.ts';
import { firstOf } from '../../../words/row-messages.ts';
import { stopFor } from './person.ts';
import { didYouMean, Stop } from './result.ts';

const mostNamed = 4;

/** The batch that a person named: its name, or a prefix that only one has. Stops with 2 for an ambiguous prefix. */
export async function findNamedBatch({ ledger }: App<'looking'>, name: string): Promise<Batch | undefined> {
  const batch = await getBatch(ledger.db, name);
  if (batch || name === '') return batch;
  const begun = await batchesBeginning(ledger.db, name, 1000);
  if (begun.length < 2) return begun[0];
  const names = begun.map(({ id }) => id);
  throw new Stop(`"${name}" begins ${names.length} batches: ${firstOf(names, mostNamed)}. Name one of them`);
}

/** As {@link findNamedBatch}, and stops with 2 when there is none: it names the nearest. */
export async function namedBatch(app: App<'looking'>, name: string): Promise<Batch> {
  const batch = await findNamedBatch(app, name);
  if (batch) return batch;
  const meant = didYouMean(await nearestBatch(app, name), ': counterfoil batches lists them');
  throw new Stop(`${stopFor({ why: { kind: 'no_batch', batch: name } }).message}${meant}`);
}

/** The batch whose name, or whose file's name, is nearly this one; undefined when none is. */
export async function nearestBatch({ ledger }: App<'looking'>, name: string): Promise<string | undefined> {
  const batches = await batchesBeginning(ledger.db, '', 1000);
  const ids = batches.map(({ id }) => id);
  const file = likely(
    name,
    batches.map((batch) => batch.name),
  );
  return batches.find((batch) => batch.name === file)?.id ?? likely(name, ids);
}

/** The batch that a command names as its only argument, or `--mode` in its place. */
export async function orderedBatch(app: App<'looking'>, [name]: string[]): Promise<Batch> {
  if (!name) throw new Stop('name a batch, or say --mode for everything');
  return namedBatch(app, name);
}

/** Stops for a batch that is still being taken in: no command may move its payouts (P23). */
export function refuseLoading({ id, phase }: Batch): void {
  if (phase === 'loading') throw stopFor({ why: { kind: 'loading', batch: id } });
}
