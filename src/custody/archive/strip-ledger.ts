import type Database from 'better-sqlite3';
import { cameToNothing, witnessStatuses } from '../../core/domain/payout.ts';
import { isToldEntry } from '../../core/ledger/event-feed.ts';
import { eventFloorKey } from '../../core/ledger/event-places.ts';
import { createIdentityDigest, identity, type PayoutIdentity } from './identity.ts';

/** Events that nothing reads once the payout has ended. The entry by which it ended and its last one stay too. */
const plainEvents = [
  'intake',
  'intent',
  'accepted',
  'refused',
  'not_sent',
  'turned_away',
  'unknown',
  ...['response', 'details', 'listing', 'webhook'].flatMap((source) =>
    witnessStatuses.map((status) => `${source} says ${status}`),
  ),
];

/** True for an entry of an archived payout that the ledger does without. */
const goes = `event in (${plainEvents.map((event) => `'${event}'`).join(', ')})
  and exists (select 1 from payouts p where p.id = history.payout_id and history.seq < p.history_seq
    and history.id <> coalesce((select max(m.id) from history m where m.payout_id = p.id
      and m.to_state = p.state and coalesce(m.from_state, '') <> m.to_state), 0))`;

const payouts = 'select id from payouts where batch_id in (select id from temp.archived)';

/** 1 where failed.csv of a batch offers rows to pay again: its results are due, since no archived payout is paid again. */
const isOffered = `exists (select 1 from payouts p where p.batch_id = batches.id
  and p.state in (${cameToNothing.map((state) => `'${state}'`).join(', ')}) and not exists (
    select 1 from payouts s where s.successor_of = p.id and s.state <> 'cancelled'))`;

/**
 * Takes out of the ledger what its archive `archive` holds, in one transaction with the end of the archive's intent. The
 * payouts stay, with everything that a later decision reads: references, ids, money, states, links (P22).
 */
export function stripLedger(
  ledger: Database.Database,
  about: { archive: bigint; frozen: bigint; at: string; sha256: string; amounts: readonly ArchivedAmount[] },
): void {
  const { archive, frozen, at, sha256, amounts } = about;
  const run = (text: string, ...values: unknown[]): void => void ledger.prepare(text).run(...values);
  ledger
    .transaction(() => {
      for (const batch of ledger.prepare('select id from temp.archived').pluck().all())
        run(
          `update batches set archive_id = ?, archived_digest = ?, version = version + ${isOffered} where id = ?`,
          archive,
          identityDigest(ledger, String(batch)),
          batch,
        );
      for (const { month, currency, line, amount } of amounts)
        run(
          'insert into archived_amounts (archive_id, month, currency, line, amount) values (?, ?, ?, ?, ?)',
          archive,
          month,
          currency,
          line,
          amount,
        );
      // An entry that stays keeps the hash of the one before it, which only the archive has from now on.
      withoutGuard(ledger, 'history_no_update', () =>
        run(`update history set prev_hash = (select b.hash from history b
            where b.payout_id = history.payout_id and b.seq = history.seq - 1)
          where payout_id in (${payouts}) and prev_hash is null and seq > 1 and not (${goes})`),
      );
      raiseEventFloor(run);
      withoutGuard(ledger, 'history_no_delete', () =>
        run(`delete from history where payout_id in (${payouts}) and ${goes}`),
      );
      run(`update payouts set body = '', cells = '[]', archived_seq = history_seq where id in (${payouts})`);
      run(`update mends set was = '', became = '' where batch_id in (select id from temp.archived)`);
      run(`update attempts set raw = null where payout_id in (${payouts})`);
      run(`update inquiries set raw = null where payout_id in (${payouts})`);
      // A stale one may arrive again with a good time, and is then applied from its body.
      run(`update webhooks set headers = '{}', body = x'' where stale = 0 and payout_id in (${payouts})`);
      run('update runs set archive_id = ? where frozen <= ? and archive_id is null', archive, frozen);
      run('delete from run_rows where until <= (select min(frozen) from runs where frozen > ?)', frozen);
      run(`delete from meta where key in (select 'backup_digest:' || id from temp.archived)`);
      run('update archives set done_at = ?, sha256 = ? where id = ?', at, sha256, archive);
    })
    .immediate();
}

/**
 * Keeps from which place on events can be read without a gap, and drops the rows before it (P39). The newest row stays, so
 * that no later one gets its number.
 */
function raiseEventFloor(run: (text: string, ...values: unknown[]) => void): void {
  const last = `(select max(id) from history where payout_id in (${payouts}) and ${goes} and ${isToldEntry('history')})`;
  const before = (bound: string): string => `after_history < ${bound} and id < (select max(id) from events)`;
  run(`insert into meta (key, value) select '${eventFloorKey}', last.id || '.' || (
      select coalesce(max(id), 0) from events where ${before('last.id')})
    from (select ${last} as id) last where last.id is not null
    on conflict (key) do update set value = excluded.value
    where cast(excluded.value as integer) > cast(meta.value as integer)`);
  run(
    `delete from events where ${before(`(select cast(value as integer) from meta where key = '${eventFloorKey}')`)}`,
  );
}

/** What the payouts of an archive add to a line of a month, in minor units. */
export type ArchivedAmount = { month: string; currency: string; line: string; amount: bigint };

/** Lifts a guard for one deletion, inside the caller's transaction. */
function withoutGuard(ledger: Database.Database, name: string, work: () => void): void {
  const text = ledger
    .prepare(`select sql from sqlite_master where type = 'trigger' and name = ?`)
    .pluck()
    .get(name);
  if (typeof text !== 'string') throw new Error(`the trigger ${name} is missing: run verify`);
  ledger.exec(`drop trigger ${name}`);
  work();
  ledger.exec(text);
}

function identityDigest(ledger: Database.Database, batch: string): string {
  const digest = createIdentityDigest();
  const rows = ledger.prepare<[string], PayoutIdentity>(
    `select ${identity.join(', ')} from payouts where batch_id = ? order by row_number, id`,
  );
  for (const row of rows.iterate(batch)) digest.add(row);
  return digest.end();
}
