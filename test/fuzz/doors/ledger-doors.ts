import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { openApp } from '../../../src/app/app.ts';
import { payoutStory } from '../../../src/books/overview.sql.ts';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import { loadConfig } from '../../../src/core/settings/settings.ts';
import { ledgerFailureCode } from '../../../src/core/storage/failure.ts';
import { restoreLedger } from '../../../src/custody/restore-ledger.ts';
import { createAdminServer } from '../../../src/faces/admin/admin-server.ts';
import { apiRoutes } from '../../../src/faces/api/api.ts';
import { csv, row, type Setting, setting } from '../../intake/setting.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { Door } from './evolve.ts';

const at = '2026-11-21T10:00:00.000Z';
const words = ['SQLite format 3\0', 'CREATE TABLE ', 'meta', 'payouts', '\u0002\u0000', '\u0000\u0000\u0002'];

/** A ledger's file with only what a restore looks at, so that a changed byte matters. */
function smallLedger(folder: string, extra = ''): Buffer {
  const path = join(folder, 'small.db');
  const file = new Database(path);
  file.pragma('page_size = 512');
  file.exec(`create table meta (key text primary key, value text);
    create table payouts (id integer); create table history (id integer);
    create table kysely_migration (name text);
    insert into meta values ('mode', 'test'), ('ledger', 'a');
    insert into kysely_migration values ('0001-initial'); ${extra}`);
  file.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}

/** Files that somebody restores. */
export async function openRestores(): Promise<Door> {
  const folder = temporaryFolder();
  const file = join(folder, 'backup.db');
  const place = join(folder, 'ledger.db');
  return {
    seeds: [
      (await wholeLedger()).bytes,
      smallLedger(folder),
      smallLedger(folder, `insert into meta values ('sealed', '{}'), ('seal_target', '')`),
      smallLedger(folder, `insert into kysely_migration values ('9999-newer')`),
    ],
    words,
    async enter(input) {
      writeFileSync(file, input);
      writeFileSync(place, 'before');
      try {
        const done = await restoreLedger(place, file, at, 'test');
        if (done.kind === 'unfit') {
          if (readFileSync(place, 'utf8') !== 'before') return 'unfit, and the ledger is another';
          return existsSync(`${place}.incoming`) ? 'left a copy' : undefined;
        }
        return readFileSync(done.aside, 'utf8') === 'before' ? undefined : 'the ledger before it is lost';
      } catch (error) {
        if (readFileSync(place, 'utf8') !== 'before') return 'threw, and the ledger is another';
        if (ledgerFailureCode(error) !== null || (error instanceof Error && error.name === 'OtherMode'))
          return undefined;
        throw error;
      } finally {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
      }
    },
  };
}

/** The ledger of one payout, whose pages are small enough that a changed byte matters. */
async function wholeLedger(): Promise<{ s: Setting; bytes: Buffer }> {
  const s = await setting();
  await s.intake.takeIn(s.drop('a.csv', csv(row('A-1'))), { origin: 'inbox' });
  const path = join(temporaryFolder(), 'whole.db');
  const own = new Database(s.ledger.path);
  own.prepare('vacuum into ?').run(path);
  own.close();
  const copy = new Database(path);
  copy.pragma('journal_mode = DELETE');
  copy.pragma('page_size = 512');
  copy.exec('vacuum');
  copy.close();
  return { s, bytes: readFileSync(path) };
}

/** The file of closed months, from which the story of a payout is read. */
export async function openArchives(): Promise<Door> {
  const { s, bytes } = await wholeLedger();
  const { db, path } = s.ledger;
  const folder = join(dirname(path), 'archive');
  mkdirSync(folder, { recursive: true });
  const own = new Database(path);
  own.exec(`insert into archives (id, file, through_history, begun_at, done_at) values (1, 'a.db', 1, '${at}', '${at}');
    update batches set archive_id = 1; update payouts set archived_seq = 1`);
  own.close();
  return {
    seeds: [bytes],
    words,
    async enter(input) {
      for (const suffix of ['-wal', '-shm', '-journal'])
        rmSync(join(folder, `a.db${suffix}`), { force: true });
      writeFileSync(join(folder, 'a.db'), input);
      try {
        const story = await payoutStory({ db, path }, 'A-1');
        if (story === undefined) return 'the payout is lost';
        // What money is about comes from the ledger, whatever the archive says.
        return story.payout.amount === 10_000n && story.payout.state === 'ready'
          ? undefined
          : 'another payout';
      } catch (error) {
        if (ledgerFailureCode(error) !== null) return undefined;
        throw error;
      }
    },
  };
}

const token = 'ada-token-5f2c8e1b';

/** Requests to the API of the admin server: `METHOD /PATH?QUERY\n\nBODY`. */
export async function openAdmin(): Promise<Door> {
  const home = temporaryFolder();
  mkdirSync(join(home, 'config'));
  writeFileSync(join(home, 'config', 'counterfoil.yaml'), 'service: { base_url: "http://127.0.0.1:1" }\n');
  const env = {
    COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_1',
    COUNTERFOIL_ADMIN_PORT: '0',
    COUNTERFOIL_ADMIN_TOKENS: `ada:${token}`,
  };
  const loaded = loadConfig({ cwd: home, env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('; '));
  const logged: string[] = [];
  const log = createLogger({ to: { write: (line: string) => void logged.push(line) } });
  const app = await openApp('whole', { config: loaded.config, log });
  const routes = apiRoutes({
    app,
    findWaiting: async () => [],
    background: (work) => void work.catch(() => undefined),
  });
  const server = createAdminServer({
    config: loaded.config,
    clock: app.clock,
    log,
    routes: [routes],
  });
  const { url } = await server.listen();
  const agent = new Agent({ keepAlive: true });
  const ask = (method: string, path: string, body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = request(`${url}/api/v1${path}`, { agent, method, headers }, (reply) => {
        reply.resume();
        reply.once('end', () => resolve(reply.statusCode ?? 0));
      });
      // The server may end an idle connection at the moment of the next request.
      sent.once('error', (error) => (sent.reusedSocket ? resolve(ask(method, path, body)) : reject(error)));
      sent.end(body);
    });
  return {
    seeds: [
      ...[
        '/payouts?after=17&limit=5&state=failed',
        '/payouts?since=2026-11-21&currency=ngn',
        '/events?after=latest',
      ],
      ...[
        '/batches?after=x',
        '/discrepancies?kind=missing&batch=a',
        '/runs/r-1/statement.csv',
        '/payouts/A-1',
      ],
    ]
      .map((path) => `GET ${path}`)
      .concat('POST /payouts/A-1/settle\n\n{"as":"paid","note":"x"}', 'POST /hold\n\n{"reason":"x"}'),
    words: [
      'after=',
      'limit=',
      'state=',
      'since=',
      '&',
      '%2e%2e',
      '/batches/',
      '/payouts/',
      '/events',
      '/runs/',
      '"note":',
      '1.1.1',
    ],
    async enter(input) {
      const [, method = 'GET', path = '', body = ''] =
        /^(GET|POST) ?([^\n]*)(?:\n\n([\s\S]*))?/.exec(input.toString('latin1')) ?? [];
      // A reconciliation would go on in the background.
      if (method === 'POST' && /^\/+runs\b/.test(path)) return undefined;
      logged.length = 0;
      const status = await ask(method, /^[/?][!-~]*$/.exec(path)?.[0] ?? '/', method === 'POST' ? body : '');
      if (status >= 500 && status !== 503) return `answered ${status}: ${logged.join('').slice(0, 2000)}`;
      return status >= 200 ? undefined : `answered ${status}`;
    },
  };
}
