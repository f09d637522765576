import { sql } from 'kysely';
import { later } from '../../core/domain/wait.ts';
import { allBarriers } from '../../core/ledger/barriers.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { alertKind } from '../../findings/kinds.ts';
import { canaryBad } from '../../sending/canary.ts';
import { type AlertChange, type AlertFinding, repeatMs, type StandingAlert } from './changes.ts';

/** Every alert that stands, in the order of their kinds. */
export async function standingAlerts(db: Db | Trx): Promise<StandingAlert[]> {
  const rows = await db.selectFrom('alerts').selectAll().orderBy('kind').orderBy('subject').execute();
  return rows.map((row) => ({
    kind: alertKind.parse(row.kind),
    subject: row.subject,
    count: Number(row.n),
    mark: row.mark,
    raisedAt: row.raised_at,
    repeat: { untilMs: Date.parse(row.repeat_at), notedMs: Date.parse(row.noted_at) },
  }));
}

/** Records a change as of `at`, ISO UTC of the shared clock. */
export async function applyChange(trx: Trx, one: AlertChange, at: string): Promise<void> {
  const { kind, subject } = one.change === 'raised' ? one.finding : one.alert;
  const wait = (ms: number) => ({ repeat_at: later(at, ms), noted_at: at });
  const update = trx.updateTable('alerts').where('kind', '=', kind).where('subject', '=', subject);
  switch (one.change) {
    case 'raised':
      await trx
        .insertInto('alerts')
        .values({ kind, subject, raised_at: at, ...amountOf(one.finding), ...wait(repeatMs) })
        .execute();
      return;
    case 'grown':
    case 'repeated':
      await update.set({ ...amountOf(one.finding), ...wait(repeatMs) }).execute();
      return;
    case 'rebased':
      await update.set(wait(one.leftMs)).execute();
      return;
    case 'cleared':
      await trx.deleteFrom('alerts').where('kind', '=', kind).where('subject', '=', subject).execute();
  }
}

function amountOf({ count, mark }: AlertFinding) {
  return { n: BigInt(count), mark };
}

/**
 * Moves every wait with a wall clock that stepped by `stepMs`, so that it ends as long after now as before (P33). What
 * was noted since the step is right already, perhaps by another process. `at` is the time after the step, ISO UTC.
 */
export async function moveWaits(trx: Trx, { at, stepMs }: { at: string; stepMs: number }): Promise<void> {
  const before = stepMs > 0 ? later(at, -stepMs) : null;
  const all = await trx.selectFrom('alerts').selectAll().execute();
  for (const row of all.filter(({ noted_at }) => (before === null ? noted_at > at : noted_at <= before))) {
    const leftMs = Date.parse(row.repeat_at) - (Date.parse(at) - stepMs);
    const wait = Math.max(0, Math.min(leftMs, repeatMs));
    await trx
      .updateTable('alerts')
      .set({ repeat_at: later(at, wait), noted_at: at })
      .where('kind', '=', row.kind)
      .where('subject', '=', row.subject)
      .execute();
  }
}

/**
 * A text that changes when a commit of any process records something that people must be told at once: a halt, a refused
 * file, a held batch, a discrepancy, a canary that went wrong, a refused webhook. It reads the ends of indexes and short
 * tables.
 */
export async function causesMark(db: Db): Promise<string> {
  const { rows } = await sql<Record<string, bigint>>`select
      (select coalesce(max(id), 0) from halts) as halt, (select count(*) from halts) as halts,
      (select count(*) from meta where key in (${sql.join([...allBarriers])})) as barriers,
      (select coalesce(max(id), 0) from rejected_files) as file,
      (select count(*) from rejected_files where ended_at is null) as files,
      (select coalesce(max(id), 0) from discrepancy_events) as discrepancy,
      (select coalesce(sum(version + 1), 0) from batches where phase = 'loaded' and hold_reasons <> '[]') as held,
      (select count(*) from canaries c join payouts p
        on p.id >= c.from_id and p.id <= c.through_id and coalesce(p.batch_id, '') = c.batch_id
        where c.state = 'open' and p.state in (${sql.join([...canaryBad])})) as canary,
      (select coalesce(max(id), 0) from rejections where detail <> '') as refused`.execute(db);
  return Object.values(rows[0] ?? {}).join(' ');
}
