import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import readSheets from 'read-excel-file/node';
import { expect, it } from 'vitest';
import { findRun } from '../../src/books/batch-results.sql.ts';
import { verdictsOf } from '../../src/books/run-verdicts.sql.ts';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { roleNames } from '../../src/core/settings/settings-schema.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { logRun } from '../../src/daemon/daemon-log.ts';
import { findDigest } from '../../src/faces/alerts/digest.sql.ts';
import { messageWords } from '../../src/faces/alerts/message-words.ts';
import type { View } from '../../src/faces/web/dashboard/frame.ts';
import { createLooks } from '../../src/faces/web/dashboard/look.ts';
import { runsView, runView } from '../../src/faces/web/dashboard/runs-view.ts';
import { todayView } from '../../src/faces/web/dashboard/today-view.ts';
import { batchOf, type Home, type Json } from '../support/cli.ts';
import { hurried } from '../support/clock.ts';
import { makeHome } from '../support/decided.ts';
import { born } from '../support/ledger.ts';
import { readIndexRow, readRunPaper } from '../support/paper.ts';

const settings = {
  COUNTERFOIL_RECEIVER_ENABLED: 'false',
  COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0',
};
const nowhere = { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9' };
const zone = 'Africa/Lagos';

type Case = {
  expected: string[];
  code: number;
  sent: boolean;
  env?: Record<string, string>;
  before?(home: Home): void;
};
const plant = (home: Home, currency: string): void =>
  void home.sandbox.book.plant({ reference: `NOBODY-${currency}`, amount: '75.00', currency });
const cases: Record<string, Case> = {
  'everything agrees': { expected: ['reconciled'], code: 0, sent: true },
  'a stranger’s transfer is listed': {
    ...{ expected: ['exceptions'], code: 4, sent: true },
    before: (home) => plant(home, 'NGN'),
  },
  'the service cannot be reached': { expected: ['not_compared'], code: 1, sent: true, env: nowhere },
  'nothing was sent, and nothing is listed': { expected: ['none'], code: 0, sent: false },
  'nothing was sent, and the service cannot be reached': {
    ...{ expected: ['not_compared'], code: 1, sent: false, env: nowhere },
  },
  'one currency agrees, and another does not': {
    ...{ expected: ['exceptions', 'reconciled'], code: 4, sent: true },
    before: (home) => plant(home, 'ZAR'),
  },
};

const names: [RegExp, string][] = [
  [/\breconciled\b/, 'reconciled'],
  [/\bexceptions\b/, 'exceptions'],
  [/\bnot[ _]compared\b/i, 'not_compared'],
  [/\bnothing to state\b/i, 'none'],
];
/** The verdicts that a text names. */
const named = (text: string): string[] =>
  names.flatMap(([name, verdict]) => (name.test(text) ? [verdict] : [])).toSorted();
const wordsOf = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const part = (html: string, id: string): string =>
  wordsOf(new RegExp(`<section id="${id}".*?</section>`, 's').exec(html)?.[0] ?? '');
const unique = (all: string[]): string[] => [...new Set(all)].toSorted();

/** What each face says about the newest run. */
async function facesOf(
  home: Home,
  { run, printed, env }: { run: string; printed: string; env: Record<string, string> },
) {
  const reports = join(home.dir, 'data/reports');
  const paper = readRunPaper(reports, run);
  const summary: Json = paper.summary;
  const stated = (statement: Record<string, { verdict: string }>, whole: string): string[] =>
    unique([
      ...Object.values(statement).map(({ verdict }) => verdict),
      ...(Object.keys(statement).length > 0 ? [] : [whole]),
    ]);
  const index = readFileSync(join(reports, 'index.html'), 'utf8');
  const [sheet] = await readSheets(join(reports, `reconciliation-${run}`, 'report.xlsx'));
  const cells = (sheet?.data ?? []).map((row) => row.filter((cell) => cell !== null).join(' '));
  const verdictRows = cells.slice(cells.indexOf('Verdict') + 1, cells.indexOf('Where the money is'));
  const status = await home.json(
    ['status'],
    summary.verdict === 'none' || summary.verdict === 'reconciled' ? 0 : 4,
    env,
  );
  const head = (await home.run(['status'], env)).out.split('\n')[0] ?? '';
  const metrics = (await home.run(['status', '--metrics'], env)).out;
  const metric = [...metrics.matchAll(/reconciliation_verdict\{currency="(\w+)",verdict="(\w+)"\} 1$/gm)].map(
    ([, currency = '', verdict = '']) => ({ currency, verdict }),
  );
  const each = metric.filter(({ currency }) => currency !== 'all');
  return {
    terminal: named(printed.replace(/Next:.*/s, '')),
    summary: stated(summary.statement, summary.verdict),
    statement: stated(paper.statement, summary.verdict),
    page: named(part(paper.page.html, 'verdict')),
    hero: named(part(index, 'latest')),
    index: named(readIndexRow(reports, run).words),
    workbook: named(verdictRows.join('\n')),
    statusJson: stated(
      Object.fromEntries(
        Object.entries(status.last_run.verdicts).map(([name, verdict]) => [
          name,
          { verdict: String(verdict) },
        ]),
      ),
      status.last_run.verdict,
    ),
    status: named(head.replace('last reconciliation', '')),
    metrics: unique((each.length > 0 ? each : metric).map(({ verdict }) => verdict)),
    ...(await ledgerFaces(home, run, summary)),
  };
}

/** The dashboard, the log and the digest of an alert. */
async function ledgerFaces(home: Home, run: string, summary: Json): Promise<Record<string, string[]>> {
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  const { db } = ledger;
  try {
    const row = await findRun(db, run);
    if (!row) throw new Error('no run');
    const view: View = {
      ...{
        mode: 'test',
        zone,
        now: new Date().toISOString(),
        caller: { kind: 'token', name: 'ada', roles: roleNames, signedIn: false },
        mayOpen: () => true,
        holders: () => ['ada'],
      },
      ...{ version: '', formToken: null },
    } as View;
    const verdicts = (await verdictsOf(db, [run])).get(run) ?? [];
    const source = { db, ledger, account: null, dataDir: join(home.dir, 'data') };
    const looks = createLooks({
      ...{ source, ledger, clock: systemClock(), zone, birth: ledger.birth, payZone: zone },
      findHalt: async () => undefined,
      findProblems: async () => [],
      findDrops: async () => [],
      findWaiting: async () => [],
    });
    const look = await looks.look();
    const schedules = {
      timezone: zone,
      intake: '',
      submit: '',
      followUp: '',
      reconcile: '',
      reconcileFull: '',
      report: '',
    };
    const today = todayView(look, view, { schedules, limits: new Map() }).toString();
    const digest = await findDigest(db, run, new Date().toISOString());
    const content = digest ? [{ kind: 'digest' as const, digest }] : [];
    const told = messageWords(content, 'test', { timezone: zone, dashboardUrl: '' }).text;
    const lines: string[] = [];
    const log = createLogger({ to: { write: (line: string) => void lines.push(line) } } as Parameters<
      typeof createLogger
    >[0]);
    logRun({ log }, summary);
    const now = { unended: null, last: null, already: false };
    const page = runView(
      row,
      { verdicts, statement: [], unended: null, reports: '', keepDays: 0, decided: 0 },
      view,
    ).toString();
    return {
      runs: named(
        wordsOf(
          runsView(
            { runs: [row], verdicts: new Map([[row.id, verdicts]]), page: { more: false, number: 1 }, now },
            view,
          ).toString(),
        ).replace('Reconciliations', ''),
      ),
      run: unique(
        named(wordsOf(verdicts.length > 0 ? page.replace(/^.*"Verdict per currency"/s, '') : page)),
      ),
      today: named(wordsOf(/Last verdict.*?<\/dl>/s.exec(today)?.[0] ?? '')),
      digest: named(told.slice(told.indexOf('RECONCILIATION')).replace(/Discrepancies: .*/s, '')),
      log: named(JSON.parse(lines[0] ?? '{}').msg),
    };
  } finally {
    await ledger.close();
  }
}

it.each(Object.entries(cases))(
  'P35: every page, file, command and message has the same verdict where %s',
  { timeout: 120_000 },
  async (_, { expected, code, sent, env = {}, before }) => {
    const home = await makeHome({}, settings);
    let batch = '';
    if (sent) {
      batch = (await home.json(['submit', home.put('pay.csv', batchOf(3))], 0)).batches[0].batch;
      await home.sandbox.settleAll();
    }
    before?.(home);
    const work = (): ReturnType<Home['run']> => home.run(['reconcile', '--full'], env);
    // A list that changed within its second needs the whole wait.
    const printed = await (env === nowhere ? hurried(work) : work());
    expect(printed.code, printed.out + printed.err).toBe(code);
    const run = /reconciliation-(\w+)\/report\.html/.exec(printed.out)?.[1] ?? '';
    const faces = await facesOf(home, { run, printed: printed.out, env });
    const wanted = Object.fromEntries(Object.keys(faces).map((face) => [face, expected]));
    expect(faces).toEqual(wanted);
    const reports = join(home.dir, 'data/reports');
    const { html, words } = readRunPaper(reports, run).page;
    if (!expected.includes('reconciled')) expect(`${words} ${html}`).not.toMatch(/✓|class="good"/);
    if (expected.includes('not_compared'))
      expect(words).not.toMatch(/Nothing is open|none open|all is explained|Explained in full/i);
    if (batch === '') return;
    const green = /✓ reconciled/.test(readIndexRow(reports, batch).words);
    expect(green, 'the batch is green only with its currency').toBe(expected.includes('reconciled'));
  },
);
