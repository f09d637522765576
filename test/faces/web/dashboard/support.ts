import { mkdirSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import type { RouteOptions } from 'fastify';
import { onTestFinished } from 'vitest';
import { type App, openApp } from '../../../../src/app/app.ts';
import { seen } from '../../../../src/books/discrepancies/discrepancies.sql.ts';
import { finding } from '../../../../src/core/domain/discrepancy.ts';
import type { DiscrepancyKind } from '../../../../src/core/domain/discrepancy-kinds.ts';
import { type Clock, systemClock } from '../../../../src/core/runtime/clock.ts';
import { createLogger } from '../../../../src/core/runtime/logger.ts';
import { scheduleList } from '../../../../src/core/settings/schedule-list.ts';
import type { Role } from '../../../../src/core/settings/settings-schema.ts';
import type { Ledger } from '../../../../src/core/storage/ledger.ts';
import type { Unready } from '../../../../src/faces/admin/health.ts';
import { dashboardRoutes } from '../../../../src/faces/web/dashboard/dashboard.ts';
import type { DashboardDeps } from '../../../../src/faces/web/dashboard/shared.ts';
import { findOn } from '../../../../src/findings/finders.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { noteBatch, readApprovable } from '../../../../src/sending/approvals.sql.ts';
import { noBrakes } from '../../../../src/sending/brakes.ts';
import { haltInWords } from '../../../../src/words/halt-words.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../../support/ledger.ts';
import { startAdmin, tokens } from '../../admin/support.ts';
import { configWith } from '../../alerts/setting.ts';

export type Answer = { status: number; body: string; headers: IncomingHttpHeaders };
type Given = { method?: string; headers?: Record<string, string>; body?: string };

const brakes = { ...noBrakes, approval: 'always' as const };
const fiveMinutes = '*/5 * * * *';
const schedules: DashboardDeps['config']['schedules'] = {
  timezone: 'Africa/Lagos',
  intake: fiveMinutes,
  submit: fiveMinutes,
  followUp: fiveMinutes,
  reconcile: '0 2 * * *',
  reconcileFull: '',
  report: '',
};

export type Dashboard = {
  app: App;
  ledger: TestLedger;
  port: number;
  reports: string;
  /** What was logged, line by line. */
  logged: string[];
  /** Every route of the desk. */
  routes: readonly RouteOptions[];
  ask(path: string, given?: Given): Promise<Answer>;
  /** Asks as the holder of a token. */
  as(name: string, path: string, given?: Given): Promise<Answer>;
  /** Posts a form as a browser does, with the form token and the marks of a page that this person loaded. */
  post(name: string, path: string, fields?: Record<string, string>): Promise<Answer>;
};

/** A dashboard over a real ledger and real HTTP. */
export async function startDashboard(
  over: {
    problems?: Unready[];
    /** Why the ledger cannot be read; null while it can. */
    failure?: () => Error | null;
    /** Findings beside those in the ledger. */
    waiting?: Awaited<ReturnType<DashboardDeps['findWaiting']>>;
    clock?: Clock;
    submit?: string;
    names?: readonly string[];
    roles?: Record<string, Role[]>;
    /** A service that answers, and the keys that it takes. */
    service?: Pick<Sandbox, 'url' | 'keys'>;
  } = {},
): Promise<Dashboard> {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const reports = join(ledger.folder, 'reports');
  mkdirSync(reports);
  const logged: string[] = [];
  const clock = over.clock ?? systemClock();
  const config = await configWith({
    COUNTERFOIL_LEDGER_BACKUP_DIR: '',
    COUNTERFOIL_SERVICE_EXTRAS: '{"balance": "wallet_balance"}',
    ...(over.service && { COUNTERFOIL_SERVICE_BASE_URL: over.service.url }),
    COUNTERFOIL_TEST_SECRET_KEY: over.service?.keys.test.secretKey ?? 'sk_test_dashboard',
    COUNTERFOIL_TEST_ENCRYPTION_KEY: over.service?.keys.test.encryptionKey ?? 'enc_test_dashboard',
  });
  const app = await openApp('whole', {
    config,
    clock,
    openLedger: async () => ({ ...ledger, close: async () => undefined }),
    log: createLogger({ to: { write: () => undefined } }),
  });
  const underWay: Promise<unknown>[] = [];
  onTestFinished(async () => {
    await Promise.allSettled(underWay);
    await app.close();
  });
  const routes = dashboardRoutes({
    ledger,
    reader: ledger.db,
    source: { db: ledger.db, ledger, account: null, dataDir: ledger.folder },
    config: {
      mode: 'test',
      reports: { bom: true, delimiter: ',', timezone: 'Africa/Lagos', maskAccounts: false, keepDays: 0 },
      schedules: { ...schedules, submit: over.submit ?? fiveMinutes },
      submission: { ...submission, ...brakes },
      intake: config.intake,
    },
    clock,
    log: createLogger({ to: { write: (line: string) => void logged.push(line) } }),
    reports,
    desk: { app, background: (work) => void underWay.push(work) },
    findHalt: () => haltInWords(ledger.db),
    findProblems: async () => {
      const failure = over.failure?.() ?? null;
      if (failure) throw failure;
      return over.problems ?? [];
    },
    findWaiting: async () => [
      ...(over.waiting ?? []),
      ...(await findOn({
        face: 'today',
        ...{ db: ledger.db, ledger, clock, config, account: null },
        work: 'serve',
        jobs: scheduleList(schedules),
      })),
    ],
  });
  const routesOf: RouteOptions[] = [];
  const list = [...tokens, ...(over.names ?? []).map((name) => ({ name, token: `${name}-token` }))];
  const { port } = await startAdmin({
    routes: [(server) => void server.addHook('onRoute', (route) => void routesOf.push(route)), routes],
    tokens: list,
    clock,
    admin: { roles: over.roles ?? {} },
  });
  const tokenOf = (name: string): string => list.find((one) => one.name === name)?.token ?? '';
  const ask = (path: string, given: Given = {}): Promise<Answer> => askAt(port, path, given);
  const as: Dashboard['as'] = (name, path, given = {}) =>
    ask(path, { ...given, headers: { ...bearer(tokenOf(name)), ...given.headers } });
  return {
    app,
    ledger,
    port,
    reports,
    logged,
    routes: routesOf,
    ask,
    as,
    async post(name, path, fields = {}) {
      const page = await as(name, '/');
      const form = /name="form" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
      const place = /^\/(batches\/[^/]+|discrepancies)/.exec(path)?.[0];
      const { body } = place === undefined ? page : await as(name, place);
      const mark = fields.id === undefined ? `action="${path}"` : `value="${fields.id}"`;
      const own = body.split('<form ').find((one) => one.includes(mark)) ?? '';
      const shown = /name="shown" value="([^"]+)"/.exec(own)?.[1] ?? '';
      return as(name, path, posted({ form, shown, ...fields }, port));
    },
  };
}

const submission: DashboardDeps['config']['submission'] = {
  ...noBrakes,
  approvalUrl: '',
  payoutLimit: {},
  payees: 'warn',
  onChanged: 'batch',
  duplicateWindowDays: 5,
  quietPeriodMinutes: 1440,
  resubmit: 'manual',
  haltAfterUnknown: 3,
  sendDeadlineMs: 5000,
};

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A form as a browser posts it. */
export function posted(fields: Record<string, string>, port: number): Given {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    host: `127.0.0.1:${port}`,
    origin: `http://127.0.0.1:${port}`,
    'sec-fetch-site': 'same-origin',
  };
  return { method: 'POST', headers, body: new URLSearchParams(fields).toString() };
}

/** `fetch` sets Host and Sec-Fetch-Site itself and tidies paths; a plain request sends what it is given. */
function askAt(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body = '' }: Given,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { ...headers, ...length },
      agent: false,
    };
    const sent = request(options, (reply) => {
      let text = '';
      reply.on('data', (chunk: Buffer) => (text += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: text, headers: reply.headers }));
    });
    sent.on('error', reject);
    sent.end(method === 'GET' ? undefined : body);
  });
}

/** A batch as intake leaves it under `approval: always`: held, with its digest and its totals; dropped by ada. */
export async function addUnapproved(ledger: TestLedger, references: readonly string[]): Promise<void> {
  await addBatch(ledger, references, { state: 'held' });
  const row = await ledger.db.selectFrom('batches').selectAll().executeTakeFirstOrThrow();
  const { bodies } = await readApprovable(ledger.db, row);
  const reasons = [{ kind: 'approval', why: { kind: 'always' }, dropper: 'ada' }];
  await ledger.write(async (trx) => {
    await trx
      .updateTable('batches')
      .set({ body_digest: bodies, hold_reasons: JSON.stringify(reasons) })
      .execute();
    const totals = new Map([['NGN', 150_000n * BigInt(references.length)]]);
    await noteBatch(trx, { id: 'b-1', totals, needsApproval: true });
  });
}

/** An open discrepancy of a payout; returns its id. */
export async function addDiscrepancy(
  ledger: TestLedger,
  about: {
    kind: DiscrepancyKind;
    payoutId: bigint | null;
    reference: string;
    expected?: string;
    actual?: string;
  },
): Promise<string> {
  const { kind, payoutId, reference, expected = '10.00', actual = '9.00' } = about;
  const found = finding(kind, reference, {
    payoutId,
    batchId: 'b-1',
    reference,
    trx: null,
    transferId: null,
    currency: 'NGN',
    expected,
    actual,
    difference: '-1.00',
    moved: true,
    evidence: 'listed',
  });
  await ledger.write((trx) => seen(trx, { run: '1', at: at(1) }, [found]));
  const row = await ledger.db
    .selectFrom('discrepancies')
    .select('id')
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow();
  return row.id;
}

/** The newest run, of which every face says that all is reconciled, or what else its verdict is. */
export async function addRun(
  ledger: Pick<Ledger, 'write'>,
  verdict: 'reconciled' | 'exceptions' | 'not_compared' = 'reconciled',
): Promise<void> {
  const id = '20261121T100000Z';
  const list = verdict === 'not_compared' ? ('incomplete' as const) : ('complete' as const);
  await ledger.write(async (trx) => {
    const run = {
      id,
      started_at: at(0),
      finished_at: at(9),
      summary: '{}',
      history_mark: 0n,
      verdict,
      list_standing: list,
    };
    await trx.insertInto('runs').values(run).execute();
    await trx
      .insertInto('run_verdicts')
      .values({ run_id: id, currency: 'NGN', verdict, overturned: 0n })
      .execute();
  });
}

/** What a page says, without its markup. */
export const textOf = (body: string): string => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
