import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { systemClock } from '../../../support/clock.ts';
import { addBatch, at } from '../../../support/ledger.ts';
import { addDiscrepancy, addRun, startDashboard } from './support.ts';

const batches = 100;
const each = 1000;
/** What a page may cost, as a multiple of one plain reading of every payout, in processor time. */
const mostReadings = 2;
const tries = 5;

/** The least processor time of some tries, in milliseconds: others that use the machine do not count. */
async function leastTime(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < tries; n++) {
    const began = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(began);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}

it('shows each page of a ledger of 100,000 payouts for less than two readings of them all cost', {
  timeout: 600_000,
}, async () => {
  const iso = (): string => '2026-12-02T08:00:00.000Z';
  const clock = { ...systemClock(), iso, now: () => Date.parse(iso()) };
  const { ledger, as } = await startDashboard({ clock });
  for (let n = 0; n < batches; n++) {
    const references = Array.from({ length: each }, (_, row) => `B${n}-${row}`);
    await addBatch(ledger, references, { id: `batch-${n}`, state: 'pending' });
  }
  // As if all were sent and paid: two more entries of each history, and the kept totals.
  for (const [seq, from, to] of [
    [2, 'ready', 'sending'],
    [3, 'sending', 'pending'],
    [4, 'pending', 'success'],
  ] as const)
    await sql`insert into history (payout_id, seq, at, event, source, from_state, to_state, detail, prev_hash, hash)
      select id, ${seq}, ${at(60_000)}, 'looked_up', 'test', ${from}, ${to}, '{"evidence":"response+listing+details"}', '', ''
      from payouts`.execute(ledger.db);
  await sql`update payouts set state = 'success', final_at = ${at(60_000)}`.execute(ledger.db);
  await sql`update payouts set account_number = cast(1000000000 + id as text)`.execute(ledger.db);
  await sql`update payout_totals set state = 'success' where n > 0`.execute(ledger.db);
  for (let n = 0; n < 300; n++)
    await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId: BigInt(n + 1), reference: `B0-${n}` });
  const changes = Array.from({ length: 50 }, (_, n) => ({ row: n + 1, kind: 'account_changed' }));
  await sql`insert into payee_comparisons (batch_id, digest, found) select id, '', ${JSON.stringify({ changes })}
    from batches where id <> 'batch-7'`.execute(ledger.db);
  await addRun(ledger, 'exceptions');
  const paths = [
    ...['/', '/batches', '/batches?state=done', '/batches/batch-7', '/payouts', '/payouts?batch=batch-7'],
    ...['/payouts?state=success', '/payouts?state=success&batch=batch-7', '/payouts?currency=NGN'],
    ...['/payouts?since=2020-01-01', '/payouts?until=2020-01-01', '/payouts?bank=000013', '/payees'],
    '/payees?changed=true',
    ...['/payouts/B7-7', '/discrepancies', '/discrepancies/all', '/runs', '/runs/20261121T100000Z'],
    ...['/months', '/months/2026-11', '/months/2026-11/close'],
  ];
  const reading = await leastTime(() =>
    sql`select max(account_name), max(narration) from payouts`.execute(ledger.db),
  );
  const took: [path: string, readings: number][] = [];
  for (const path of paths) {
    const time = await leastTime(async () => expect((await as('ada', path)).status, path).toBe(200));
    took.push([path, time / reading]);
  }
  expect((await as('ada', '/payouts?bank=000013')).body).toContain('More than 10,000 payouts');
  expect((await as('ada', '/months/2026-11?sums=all')).body).toMatch(/100,000<[\s\S]*150,000,000\.00/);
  expect((await as('ada', '/months/2026-11')).body).toContain('Too many payouts to add up at once');
  expect(took.filter(([, readings]) => readings > mostReadings)).toEqual([]);
});
