import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { record } from '../../src/core/ledger/record.ts';
import { archiveLedger } from '../../src/custody/archive/archive-ledger.ts';
import { type Verification, verifyArchive, verifyLedger } from '../../src/custody/verify-ledger.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { claim } from '../../src/sending/claims.sql.ts';
import { addFrozenRun, detailsSay, november, novemberEnds, reportingOf } from '../custody/archive-world.ts';
import { addBatch, makeLedger, replies, type TestLedger } from '../support/ledger.ts';

const perBatch = 10_000;
const perCommit = 1000;

/** Archives a month of so many paid payouts, and proves the ledger before, and the ledger and the archive after. */
export async function measureArchive(count: number): Promise<{ lines: string[]; failed: boolean }> {
  const ledger = await makeLedger();
  const { folder, path } = ledger;
  const verdicts: Verification[] = [];
  const lines: string[] = [];
  async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const done = await work();
    lines.push(`${what.padEnd(30)} ${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s`);
    process.stderr.write(`${lines.at(-1)}\n`);
    return done;
  }
  const proven = async (what: string, work: () => Promise<Verification>): Promise<void> =>
    void verdicts.push(await timed(what, work));
  try {
    await timed('made', () => fill(ledger, count));
    await timed('month closed', async () => {
      await addFrozenRun(ledger, folder, november(29));
      const closed = await reportingOf(ledger, folder).closePeriod(
        '2026-11',
        '2026-12-14T12:00:00.000Z',
        'ada',
      );
      if (closed.kind !== 'closed') throw new Error(JSON.stringify(closed));
    });
    await ledger.close();
    await proven('ledger proven, before', () => verifyLedger(path));
    const request = { path, before: novemberEnds, now: () => '2026-12-14T12:00:00.000Z' };
    const done = await timed('archived', () => archiveLedger(request));
    if (done.kind !== 'archived') throw new Error(JSON.stringify(done));
    await proven('ledger proven, after', () => verifyLedger(path));
    const archives = readdirSync(join(folder, 'archive')).map((name) => join(folder, 'archive', name));
    for (const file of archives) await proven('archive proven', () => verifyArchive(file));
    const wrong = verdicts.flatMap(({ checks }) => checks.filter(({ ok }) => !ok).map(({ name }) => name));
    const { bytes, payouts, left } = done;
    lines.push(
      `${payouts} of ${count} payouts archived, ${left} batches left`,
      `ledger ${mebibytes(bytes.before)} MiB before, ${mebibytes(statSync(path).size)} MiB after; archive ${mebibytes(bytes.archive)} MiB`,
      `wrong: ${wrong.join(', ') || 'nothing'}`,
    );
    return { lines, failed: wrong.length > 0 || payouts !== count || verdicts.length !== 3 };
  } finally {
    await ledger.remove().catch(() => undefined);
  }
}

/** Batches that were accepted, heard of by webhook and confirmed by the details. */
async function fill(ledger: TestLedger, count: number): Promise<void> {
  for (let from = 0; from < count; from += perBatch) {
    const length = Math.min(perBatch, count - from);
    const references = Array.from({ length }, (_, n) => `PAY-${from + n + 1}`);
    await addBatch(ledger, references, {
      id: `b-${from}`,
      cells: JSON.stringify(['November salary', `${from}`]),
    });
    for (let done = 0; done < length; done += perCommit) await payOut(ledger);
    process.stderr.write(`${from + length} made\n`);
  }
  await ledger.write(async (trx) => {
    // As if the results of each batch had been written.
    await trx
      .updateTable('batches')
      .set((eb) => ({ reported_version: eb.ref('version') }))
      .execute();
    await trx
      .insertInto('webhooks')
      .columns([
        'digest',
        'received_at',
        'last_received_at',
        'deliveries',
        'kind',
        'headers',
        'body',
        'stale',
        'applied_at',
        'payout_id',
        'verdict',
        'said',
      ])
      .expression((eb) =>
        eb
          .selectFrom('payouts')
          .select(({ val, cast, ref }) => [
            cast<string>('id', 'text').as('digest'),
            ...[1, 2].map((n) => val(november(23)).as(`at${n}`)),
            val(1n).as('deliveries'),
            val('payout' as const).as('kind'),
            val('{"x-note":"from the service"}').as('headers'),
            cast<Buffer>(ref('body'), 'blob').as('body'),
            val(0n).as('stale'),
            val(november(23)).as('applied_at'),
            'id as payout_id',
            val('says' as const).as('verdict'),
            val('success' as const).as('said'),
          ]),
      )
      .execute();
  });
}

/** One group: intents, answers and details, each in a commit of its own. */
async function payOut(ledger: TestLedger): Promise<void> {
  const cleared = new Map<bigint, bigint>();
  const sent = await ledger.write((trx) =>
    claim(trx, {
      workerId: 'w-1',
      limit: perCommit,
      at: november(22),
      brakes: noBrakes,
      originId: 0n,
      cleared,
    }),
  );
  const answers = sent.map(({ payoutId, attemptId }) => {
    const event = { kind: 'outcome' as const, attemptId, outcome: replies.accepted(`T-${payoutId}`) };
    return { payoutId, source: 'response' as const, event };
  });
  await ledger.write((trx) => record(trx, november(22, 1000), answers));
  const details = sent.map(({ payoutId }) => detailsSay(payoutId, 'success'));
  await ledger.write((trx) => record(trx, november(22, 3000), details));
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
