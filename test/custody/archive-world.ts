import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptOutcome } from '../../src/core/domain/outcome.ts';
import type { WitnessStatus } from '../../src/core/domain/payout.ts';
import type { RecordEvent } from '../../src/core/ledger/projection.ts';
import { record } from '../../src/core/ledger/record.ts';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { createReporting } from '../../src/faces/files/reporting.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { addBatch, claimAt, recordOutcome, replies } from '../support/ledger.ts';

export const november = (day: number, ms = 0): string =>
  new Date(Date.UTC(2026, 10, day, 12) + ms).toISOString();
export const december = (day: number): string => new Date(Date.UTC(2026, 11, day, 12)).toISOString();
/** November ends in Lagos, the time zone of the reports. */
export const novemberEnds = '2026-11-30T23:00:00.000Z';

/** Reporting over a ledger in a folder. */
export function reportingOf(ledger: Ledger, folder: string): ReturnType<typeof createReporting> {
  mkdirSync(join(folder, 'config'), { recursive: true });
  const file = join(folder, 'config', 'counterfoil.yaml');
  writeFileSync(file, 'service: { base_url: "http://127.0.0.1:1" }\n');
  const loaded = loadConfig({ configFlag: file, cwd: folder, env: {} });
  if (loaded.kind !== 'ok') throw new Error(loaded.problems.join('\n'));
  const { config } = loaded;
  const rules = { referencePrefix: '', payoutLimit: {} };
  const retries = createDecisions({ ledger, clock: systemClock(), rules, say: rowFaultText }).rows;
  return createReporting({ ledger, config, paths: { reports: join(folder, 'reports') }, retries });
}

/** What the details say of a payout. */
export function detailsSay(payoutId: bigint, status: WitnessStatus): RecordEvent {
  const witness = {
    source: 'details' as const,
    status,
    transferId: `T-${payoutId}`,
    trx: `X-${payoutId}`,
    fee: '10.75',
    message: null,
    settledAt: null,
  };
  return { payoutId, source: 'details', event: { kind: 'witness', witness } };
}

type Fate = 'success' | 'failed' | 'refused' | 'pending';

/** A batch whose payouts were sent on this day of November and came to `fates`, each under `REF-n`. */
export async function addSent(
  ledger: Ledger,
  id: string,
  day: number,
  fates: readonly Fate[],
): Promise<bigint[]> {
  const references = fates.map((_, n) => `${id.toUpperCase()}-${n + 1}`);
  const body = JSON.stringify(references);
  const ids = await addBatch(ledger, references, { id, cells: body });
  const claims = await claimAt(ledger, november(day), fates.length);
  for (const claim of claims) {
    const fate = fates[ids.indexOf(claim.payoutId)] ?? 'success';
    const outcome: AttemptOutcome =
      fate === 'refused' ? replies.refused() : replies.accepted(`T-${claim.payoutId}`);
    await recordOutcome(ledger, november(day, 1000), claim, outcome);
    if (fate !== 'success' && fate !== 'failed') continue;
    await addWebhook(ledger, claim.payoutId, { at: november(day, 2000), said: fate });
    await ledger.write((trx) => record(trx, november(day, 3000), [detailsSay(claim.payoutId, fate)]));
  }
  return ids;
}

async function addWebhook(
  ledger: Ledger,
  payoutId: bigint,
  { at, said }: { at: string; said: 'success' | 'failed' },
): Promise<void> {
  await ledger.db
    .insertInto('webhooks')
    .values({
      digest: `w-${payoutId}`,
      received_at: at,
      last_received_at: at,
      deliveries: 1n,
      kind: 'payout',
      reference: null,
      trx: null,
      headers: '{"x-note":"from the service"}',
      body: Buffer.from('{"status":"success"}'),
      stale: 0n,
      applied_at: at,
      payout_id: payoutId,
      verdict: 'says',
      said,
    })
    .execute();
}

/** Freezes a run that began and ended at `at`. */
export async function addFrozenRun(ledger: Ledger, folder: string, at: string): Promise<string> {
  const id = `${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  await ledger.db
    .insertInto('runs')
    .values({ id, started_at: at, finished_at: at, history_mark: 0n, list_standing: 'unread' })
    .execute();
  await reportingOf(ledger, folder).freezeRun(id, at);
  return id;
}

/** November, closed: one batch that ended, one with a payout on its way, one of December, and runs of both months. */
export async function closedNovember(
  ledger: Ledger,
  folder: string,
): Promise<{ runs: string[]; ended: bigint[] }> {
  const ended = await addSent(ledger, 'ended', 22, ['success', 'failed', 'refused', 'success']);
  await addSent(ledger, 'open', 23, ['success', 'pending']);
  const runs = [
    await addFrozenRun(ledger, folder, november(25)),
    await addFrozenRun(ledger, folder, november(28)),
  ];
  const reporting = reportingOf(ledger, folder);
  const closed = await reporting.closePeriod('2026-11', december(1), 'ada');
  if (closed.kind === 'refused') throw new Error(closed.why.kind);
  await addSent(ledger, 'later', 40, ['success']);
  runs.push(await addFrozenRun(ledger, folder, december(12)));
  await reporting.writeDueBatchResults();
  return { runs, ended };
}
