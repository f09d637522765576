import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { HistoryEvent } from '../../src/core/domain/history-event.ts';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import type { ListStanding } from '../../src/core/domain/verdict.ts';
import { newestHistory } from '../../src/core/ledger/history.ts';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { type Config, loadConfig } from '../../src/core/settings/settings.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { Discrepancy, NewPayout } from '../../src/core/storage/tables/tables.ts';
import { createReporting } from '../../src/faces/files/reporting.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { pairListed } from '../../src/watching/listing/pairing.sql.ts';
import type { ShownRow } from '../../src/watching/listing/shown-under.sql.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { batchRow } from '../support/batch-row.ts';
import { openNewLedger } from '../support/new-ledger.ts';

export const runId = '20261121T130000Z';
const runStart = '2026-11-21T13:00:00.000Z';
export const cut = '2026-11-21T13:05:00.000Z';
export const columns = [
  'reference',
  'Account Number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'note',
];

export type World = {
  ledger: Ledger;
  config: Config;
  reports: string;
  reporting: ReturnType<typeof createReporting>;
  with(reportsYaml: string): ReturnType<typeof createReporting>;
  close(): Promise<void>;
};

/** A real ledger in a temporary folder, with one loaded batch `b-20261121-000001`, and reporting over it. */
export async function makeWorld(birth = '2026-11-20T00:00:00.000Z'): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'reporting-'));
  const reports = join(folder, 'data', 'reports');
  const ledger = await openNewLedger(join(folder, 'data', 'ledger.db'), {
    now: () => birth,
  });
  const configured = (reportsYaml: string): Config => {
    mkdirSync(join(folder, 'config'), { recursive: true });
    const file = join(folder, 'config', 'counterfoil.yaml');
    writeFileSync(file, `service: { base_url: "http://127.0.0.1:1" }\nreports: ${reportsYaml}\n`);
    const loaded = loadConfig({ configFlag: file, cwd: folder, env: {} });
    if (loaded.kind !== 'ok') throw new Error(loaded.problems.join('\n'));
    return loaded.config;
  };
  await addBatch(ledger, 'b-20261121-000001');
  const config = configured('{}');
  const clock = { ...systemClock(), now: () => Date.parse(cut), iso: () => cut };
  const rules = { referencePrefix: '', payoutLimit: {} };
  const retries = createDecisions({ ledger, clock, rules, say: rowFaultText }).rows;
  const over = (one: Config) => createReporting({ ledger, config: one, paths: { reports }, retries });
  return {
    ledger,
    config,
    reports,
    reporting: over(config),
    with: (yaml) => over(configured(yaml)),
    close: async () => {
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function addBatch(
  ledger: Ledger,
  id: string,
  more: { rowCount?: bigint; createdAt?: string } = {},
): Promise<void> {
  const batch = batchRow(id, more.createdAt ?? '2026-11-21T12:00:00.000Z', {
    name: 'b',
    file_name: 'b.csv',
    columns: JSON.stringify(columns),
    row_count: more.rowCount ?? 1n,
  });
  await ledger.db.insertInto('batches').values(batch).execute();
}

let row = 1n;
let entries = 0n;

/** The id of a history entry of this instant: its place in time. */
function entryIdAt(at: string): bigint {
  entries += 1n;
  return firstEntryAt(at) + entries;
}

const firstEntryAt = (at: string): bigint => BigInt(Date.parse(at)) * 1_000_000n;

/**
 * A payout that went through `path` (first state at 12:00, then a minute each, or as `times` say), history included.
 * `asAdded`: its entries follow the newest whatever their times are, as where a clock was wrong.
 */
export async function addPayout(
  ledger: Ledger,
  reference: string,
  path: [PayoutState, ...PayoutState[]],
  more: Partial<NewPayout> & { times?: string[]; events?: HistoryEvent[]; asAdded?: boolean } = {},
): Promise<bigint> {
  const { times, events, asAdded = false, ...given } = more;
  row += 1n;
  const cells = [reference, '0123456789', 'Ada Obi', '058', '100', 'NGN', 'ok'];
  const payout: NewPayout = {
    batch_id: 'b-20261121-000001',
    row_number: row,
    reference,
    reference_key: reference.toLowerCase(),
    account_number: '0123456789',
    account_name: 'Ada Obi',
    bank_code: '058',
    amount: 10_000n,
    currency: 'NGN',
    narration: 'n',
    sender_name: 's',
    body: '{}',
    cells: JSON.stringify(cells),
    state: path.at(-1) ?? path[0],
    updated_at: cut,
    ...given,
  };
  const { id } = await ledger.db
    .insertInto('payouts')
    .values(payout)
    .returning('id')
    .executeTakeFirstOrThrow();
  const newest = await newestHistory(ledger.db);
  const rows = path.map((to, index) => {
    const at = times?.[index] ?? `2026-11-21T12:0${index}:00.000Z`;
    return {
      id: asAdded ? newest + BigInt(index + 1) : entryIdAt(at),
      at,
      payout_id: id,
      seq: BigInt(index + 1),
      event: events?.[index] ?? ('looked_up' as const),
      source: 'test',
      from_state: path[index - 1] ?? null,
      to_state: to,
      detail: index === path.length - 1 && given.fee ? JSON.stringify({ fee: given.fee }) : '{}',
      prev_hash: '',
      hash: '',
    };
  });
  await ledger.db.insertInto('history').values(rows).execute();
  return id;
}

export async function addRun(
  ledger: Ledger,
  id = runId,
  startedAt = runStart,
  standing: ListStanding = 'complete',
): Promise<void> {
  const summary = JSON.stringify({ run: id, complete: standing === 'complete', passes: 2 });
  await ledger.db
    .insertInto('runs')
    .values({
      id,
      started_at: startedAt,
      finished_at: cut,
      summary,
      list_standing: standing,
      history_mark: firstEntryAt(startedAt),
    })
    .execute();
}

/** A listed transfer of the run: 100.00 NGN, success, to the builder's account, unless `more` says otherwise. */
export async function addListed(
  ledger: Ledger,
  reference: string,
  more: Partial<ShownRow> = {},
): Promise<void> {
  const listed: ShownRow = {
    run_id: runId,
    transfer_id: `T-${reference}`,
    trx: null,
    reference,
    reference_key: reference.toLowerCase(),
    currency: 'NGN',
    amount: 10_000n,
    amount_text: '100.00',
    fee: null,
    account_name: 'Ada Obi',
    account_number: '0123456789',
    bank_code: '058',
    domain: 'test',
    status: 'success',
    created_at: '2026-11-21T12:02:00.000Z',
    updated_at: '2026-11-21T12:02:00.000Z',
    pass: 1n,
    payout_id: null,
    ...more,
  };
  await ledger.db.insertInto('listed').values(listed).execute();
}

export async function addDiscrepancy(
  ledger: Ledger,
  id: string,
  more: Partial<Discrepancy> = {},
): Promise<void> {
  const discrepancy: Discrepancy = {
    closed_with_payout: 0n,
    id,
    kind: 'amount_conflict',
    subject: id,
    payout_id: null,
    batch_id: 'b-20261121-000001',
    reference: 'R1',
    trx: null,
    transfer_id: null,
    currency: 'NGN',
    expected: '100.00',
    actual: '90.00',
    difference: '-10.00',
    severity: 'high',
    later_severity: null,
    graver_at: null,
    evidence: 'listing',
    advice: '{}',
    state: 'open',
    resolved_by: null,
    note: '',
    reopened: 0n,
    shown_at: null,
    first_seen_at: runStart,
    last_seen_at: runStart,
    last_run_id: runId,
    resolved_at: null,
    ...more,
  };
  await ledger.db.insertInto('discrepancies').values(discrepancy).execute();
}

/** The text of a file of the run's report. */
export function reportText(world: World, file: string): string {
  return readFileSync(join(world.reports, `reconciliation-${runId}`, file), 'utf8');
}

/** The rows of a CSV file of the run's report, its header first. */
export function reportTable(world: World, file: string): string[][] {
  return parse(reportText(world, file), { bom: true });
}

/** Pairs, freezes and writes the run, as the end of a reconciliation does. */
export async function reportRun(world: World): Promise<void> {
  await pairListed(world.ledger, runId);
  await world.reporting.freezeRun(runId, cut);
  await world.reporting.writeRun(runId);
}
