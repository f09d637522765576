import { expect, it, onTestFinished } from 'vitest';
import { openApp } from '../../src/app/app.ts';
import { statusFacts } from '../../src/faces/json/status-standing.ts';
import { wellText } from '../../src/faces/terminal/doctor/doctor.ts';
import { terminalOf } from '../../src/faces/terminal/kit/terminal.ts';
import { statusScreen } from '../../src/faces/terminal/status/status-lines.ts';
import { type Finding, isShown, plainFinding } from '../../src/findings/finding.ts';
import { type FindingKind, findingRules, type KindsOn } from '../../src/findings/kinds.ts';
import { configWith } from '../faces/alerts/setting.ts';
import { addRun, startDashboard } from '../faces/web/dashboard/support.ts';

/** `shown`: the face lists it. A kind: that one covers it. The rest: why the face says nothing of it, and is not green. */
type Told =
  | 'shown'
  | FindingKind
  | 'readyz'
  | 'cannot open'
  | 'only serve sees it'
  | 'serve runs'
  | 'a line apart';
type Row = { status: Told; today: Told };

/** No face may say that all is fine while one of these is open: `today` shows what `/readyz` does as well. */
const table: Record<FindingKind, Row> = {
  starting: { status: 'only serve sees it', today: 'readyz' },
  ledger_away: { status: 'cannot open', today: 'cannot open' },
  ledger_unwritable: { status: 'only serve sees it', today: 'readyz' },
  ledger_unreadable: { status: 'cannot open', today: 'readyz' },
  ledger_behind: { status: 'sending_halted', today: 'readyz' },
  sending_halted: { status: 'shown', today: 'shown' },
  canary_failed: { status: 'shown', today: 'shown' },
  discrepancy_open: { status: 'shown', today: 'shown' },
  queue_stuck: { status: 'a line apart', today: 'readyz' },
  webhooks_overdue: { status: 'shown', today: 'readyz' },
  look_ups_overdue: { status: 'shown', today: 'readyz' },
  schedule_failed: { status: 'shown', today: 'shown' },
  schedule_missed: { status: 'shown', today: 'shown' },
  disk_full: { status: 'disk_low', today: 'readyz' },
  disk_unseen: { status: 'shown', today: 'readyz' },
  payout_unknown: { status: 'outcome_unknown', today: 'outcome_unknown' },
  outcome_unknown: { status: 'shown', today: 'shown' },
  payout_unpaid: { status: 'a line apart', today: 'shown' },
  batch_held: { status: 'shown', today: 'shown' },
  approval_unanswered: { status: 'shown', today: 'shown' },
  discrepancy_high: { status: 'discrepancy_open', today: 'discrepancy_open' },
  file_rejected: { status: 'shown', today: 'shown' },
  file_lost: { status: 'shown', today: 'shown' },
  signatures_wrong: { status: 'shown', today: 'shown' },
  receiver_silent: { status: 'shown', today: 'shown' },
  service_silent: { status: 'only serve sees it', today: 'shown' },
  certificate_ends: { status: 'shown', today: 'shown' },
  disk_low: { status: 'shown', today: 'shown' },
  answer_awaited: { status: 'shown', today: 'shown' },
  payout_kept: { status: 'shown', today: 'shown' },
  sending_idle: { status: 'shown', today: 'serve runs' },
  backup_late: { status: 'shown', today: 'shown' },
  message_lost: { status: 'shown', today: 'shown' },
  events_undelivered: { status: 'shown', today: 'shown' },
  run_unsound: { status: 'shown', today: 'shown' },
};

const kinds = Object.keys(table) as FindingKind[];
const why = 'it broke';
const job = {
  subject: 'intake',
  facts: { job: 'intake', result: 'failed', why, due: '2026-11-27T01:00:00.000Z' },
};
const rejected = {
  ...{ id: 1n, kind: 'refused', name: 'a.csv', place: 'rejected/a.csv', errors_file: null, problems: 1n },
  ...{ rows_left: 0n, content_hash: 'h', owner: '', since: '2026-11-21T00:00:00.000Z' },
};
/** What the words of a kind need beside counts. */
const facts: { [K in FindingKind]?: Partial<Finding<K>> | object } = {
  discrepancy_open: { subject: 'paid_twice', facts: { severity: 'medium' } },
  queue_stuck: { facts: { why } },
  webhooks_overdue: { measure: 400_000, facts: { waitsMs: 400_000 } },
  look_ups_overdue: { measure: 400_000 },
  schedule_failed: job,
  schedule_missed: job,
  disk_unseen: { facts: { why } },
  batch_held: { subject: 'november', facts: { waitsForApproval: true, makers: [] } },
  payout_unpaid: { subject: 'november', facts: { states: [{ state: 'failed', count: 1 }], newFile: false } },
  approval_unanswered: { measure: 1_000_000, facts: { problem: 'http_500' } },
  file_rejected: { subject: 'refused', facts: { files: [rejected] } },
  file_lost: { names: ['november'], facts: { lost: [], changed: [] } },
  certificate_ends: { facts: { is: 'invalid', fault: 'it ended' } },
  disk_low: { facts: { dataDir: 'data', free: 1, ledger: 1 } },
  backup_late: { facts: { is: 'missing', folder: 'backups', every: '1h' } },
  signatures_wrong: { measure: 3 },
  message_lost: { facts: { standings: [] } },
  events_undelivered: { facts: { gaveUp: 1, problem: 'http_500' } },
  run_unsound: { facts: { startedAt: '2026-11-21T00:00:00.000Z', verdict: 'exceptions', decided: 0 } },
};

function one<K extends FindingKind>(kind: K): Finding<K> {
  return { ...plainFinding(kind, 'november'), ...facts[kind] } as Finding<K>;
}

const shownOn = <F extends keyof Row>(face: F) =>
  kinds.filter((kind): kind is KindsOn<F> => table[kind][face] === 'shown');

it.each(kinds)('%s is shown, covered or out of sight as the table says', (kind) => {
  const { faces } = findingRules[kind];
  for (const face of ['status', 'today'] as const) {
    const told = table[kind][face];
    expect(faces[face] !== null, face).toBe(told === 'shown');
    if (told in table) expect(table[told as FindingKind][face]).toBe('shown');
    // Whatever else shows it shows it no earlier than the face that covers it.
    if (told === 'readyz') expect(faces.ready).toBeDefined();
  }
  // A message at once about something that no page shows would be a riddle.
  if (faces.alerts)
    expect([table[kind].status, table[kind].today]).not.toEqual(['cannot open', 'cannot open']);
});

it.each(kinds)('doctor does not say that all is well while %s is open', (kind) => {
  const found = one(kind);
  const fails = isShown(found, 'doctor');
  const waits = !fails && isShown(found, 'status') ? 1 : 0;
  if (table[kind].status === 'shown') expect(fails || waits === 1).toBe(true);
  if (waits > 0)
    expect(wellText([], waits)).toBe('no check failed; 1 thing waits for a person: counterfoil status');
});

it('the dashboard is green without a finding, and with none of them', async () => {
  const quiet = await startDashboard();
  await addRun(quiet.ledger);
  expect((await quiet.ask('/')).body).toContain('Everything is fine');
  for (const kind of shownOn('today')) {
    const { ledger, ask } = await startDashboard({ waiting: [one(kind)] });
    await addRun(ledger);
    const { status, body } = await ask('/');
    expect([status, body.includes('state is-good'), body.includes('Nothing waits')], kind).toEqual([
      200,
      false,
      false,
    ]);
  }
  const problems = [{ check: 'disk', problem: 'it is full', fix: 'free some space' }];
  const unready = await startDashboard({ problems });
  await addRun(unready.ledger);
  expect((await unready.ask('/')).body, 'what /readyz says').not.toContain('state is-good');
}, 60_000);

it('status says that nothing waits without a finding, and with none of them', async () => {
  const config = await configWith({
    COUNTERFOIL_LEDGER_BACKUP_DIR: '',
    COUNTERFOIL_RECEIVER_ENABLED: 'false',
  });
  const app = await openApp('looking', { config });
  onTestFinished(() => app.close());
  await addRun(app.ledger);
  const terminal = terminalOf({ paint: (_, text) => text, columns: 200 }, config, app.clock.iso());
  const standing = await statusFacts(app);
  expect(standing.findings).toEqual([]);
  const said = (findings: typeof standing.findings): string =>
    statusScreen({ ...standing, terminal, findings }, { mode: 'test' })
      .blocks.flat()
      .join('\n');
  expect(said([])).toContain('Needs a person: nothing');
  for (const kind of shownOn('status'))
    expect(said([one(kind)]), kind).not.toContain('Needs a person: nothing');
});
