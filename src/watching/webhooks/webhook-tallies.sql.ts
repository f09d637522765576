import { sql } from 'kysely';
import type { WebhookRejectionKind } from '../../core/domain/rejection.ts';
import { overRows } from '../../core/storage/bound-rows.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { WebhookOutcome } from '../../core/storage/tables/said-columns.ts';

/** What is counted for monitors: a number only grows, and nothing must be read again to know it. */
type Counted = 'received' | `applied:${WebhookOutcome}` | `rejected:${WebhookRejectionKind}`;

const prefix = 'webhooks:';

const addRows = overRows(
  ['name', 'n'],
  0,
  ({ rows, text, integer }) => sql`insert into tallies (name, n)
    select ${text('name')}, ${integer('n')} from ${rows} where ${text('name')} is not null
    on conflict (name) do update set n = tallies.n + excluded.n`,
);

/** Counts what happened to webhooks, in the transaction that stores it. A name may come several times. */
export async function countWebhooks(
  trx: Trx,
  happened: readonly { what: Counted; n: number }[],
): Promise<void> {
  const groups = Map.groupBy(happened, ({ what }) => what);
  const rows = [...groups].map(([what, own]) => ({
    name: `${prefix}${what}`,
    n: BigInt(own.reduce((sum, { n }) => sum + n, 0)),
  }));
  await addRows(trx, [], rows);
}

/** Whether a webhook ever came to this verdict: without one there is nothing to search for. */
export async function wasEverApplied(db: Db, verdict: WebhookOutcome): Promise<boolean> {
  const name = `${prefix}applied:${verdict}`;
  const row = await db.selectFrom('tallies').select('name').where('name', '=', name).executeTakeFirst();
  return row !== undefined;
}

/** Deliveries received, webhooks applied by what each said, and deliveries turned away by reason, since the ledger's birth. */
export type WebhookTallies = {
  received: number;
  applied: Record<string, number>;
  rejected: Record<string, number>;
};

export async function readWebhookTallies(db: Db): Promise<WebhookTallies> {
  const rows = await db
    .selectFrom('tallies')
    .select(['name', 'n'])
    .where('name', 'like', `${prefix}%`)
    .orderBy('name')
    .execute();
  const tallies: WebhookTallies = { received: 0, applied: {}, rejected: {} };
  for (const { name, n } of rows) {
    const [, what = '', which = ''] = name.split(':');
    if (what === 'received') tallies.received = Number(n);
    if (what === 'applied') tallies.applied[which] = Number(n);
    if (what === 'rejected') tallies.rejected[which] = Number(n);
  }
  return tallies;
}

/** The newest webhook, and those that nothing has been done with yet. */
export type WebhookLag = { lastReceivedAt: string | null; unapplied: number; oldestUnapplied: string | null };

/** Looks at the two ends of an index only. A webhook that came again keeps its first time. */
export async function webhookLag(db: Db): Promise<WebhookLag> {
  const newest = await db
    .selectFrom('webhooks')
    .select('received_at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const waiting = db.selectFrom('webhooks').where('applied_at', 'is', null);
  const oldest = await waiting.select('received_at').orderBy('id').limit(1).executeTakeFirst();
  const { n } = await waiting.select((eb) => eb.fn.countAll<bigint>().as('n')).executeTakeFirstOrThrow();
  return {
    lastReceivedAt: newest?.received_at ?? null,
    unapplied: Number(n),
    oldestUnapplied: oldest?.received_at ?? null,
  };
}
