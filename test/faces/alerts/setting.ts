import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/core/runtime/clock.ts';
import { createJobsStore } from '../../../src/core/runtime/jobs.sql.ts';
import { addWorker } from '../../../src/core/runtime/workers.sql.ts';
import { type Config, loadConfig } from '../../../src/core/settings/settings.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { type Alerts, createAlerts } from '../../../src/faces/alerts/alerts.ts';
import { runInit } from '../../../src/faces/terminal/setup/init.ts';
import { born, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { onPostgres } from '../../support/on-postgres/standing.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A test whose alerts or messages wait: on PostgreSQL they wait by the server's clock, which no test moves. */
export const itWaits = it.skipIf(onPostgres);

/** A request that the web server received. `text`: that of a Slack message. */
export type Post = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  text: string;
};
type Answer = { status: number; headers?: Record<string, string>; body?: string } | 'silence';

/** A real web server that keeps what it receives, and answers as it is told; 200 otherwise. */
export async function startWeb() {
  const posts: Post[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      posts.push({ method, url, headers, body, text: body === '' ? '' : JSON.parse(body).text });
      const answer = answers.shift() ?? { status: 200, body: 'ok' };
      if (answer === 'silence') return;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/services/T0/B0/s3cretPath`, posts, answers };
}

/** A mail as the server took it: the addresses of the envelope, and the raw text. */
export type Mail = { from: string; to: string[]; raw: string };

/** A real mail server on loopback that wants a user and a password; `refuse` answers the next mails with this code. */
export async function startMail(password = 'mail-pass-word') {
  const mails: Mail[] = [];
  const refuse: number[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _, done) =>
      auth.password === password ? done(null, { user: 'counterfoil' }) : done(new Error('wrong password')),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const code = refuse.shift();
        if (code !== undefined) return done(Object.assign(new Error('not now'), { responseCode: code }));
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = listening.address() as AddressInfo;
  return { url: `smtp://counterfoil@127.0.0.1:${port}`, mails, refuse };
}

/** A configuration as a home has it, with these variables. */
export async function configWith(env: Record<string, string>): Promise<Config> {
  const dir = temporaryFolder();
  await runInit(dir);
  const loaded = loadConfig({
    cwd: dir,
    env: { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9', ...env },
  });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

/** A clock whose two hands a test moves. */
export function handClock() {
  let wall = Date.parse(born);
  let mono = 0;
  const clock: Clock = {
    now: () => wall,
    iso: () => new Date(wall).toISOString(),
    monotonic: () => mono,
    sleep: async () => undefined,
  };
  return {
    clock,
    pass: (ms: number) => {
      wall += ms;
      mono += ms;
    },
    step: (ms: number) => {
      wall += ms;
    },
  };
}

export type Setting = Awaited<ReturnType<typeof makeSetting>>;

/** A ledger, a web server, and a process that tells people. */
export async function makeSetting(env: Record<string, string> = {}) {
  const ledger: TestLedger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const web = await startWeb();
  const config = await configWith({ COUNTERFOIL_ALERTS_WEBHOOK_URL: web.url, ...env });
  const hands = handClock();
  const warnings: unknown[] = [];
  const open = async (worker: string): Promise<Alerts> => {
    await enlist(ledger, worker);
    const log = { warn: (...given: unknown[]) => void warnings.push(given) };
    return createAlerts({
      ledger,
      clock: hands.clock,
      config,
      log,
      jobsStore: createJobsStore(ledger),
      worker,
    });
  };
  const alerts = await open('w-1');
  /** One turn of a daemon: it looks, and sends. */
  const turn = async (by = alerts): Promise<void> => {
    await by.look({ daemon: true });
    await by.deliver(new AbortController().signal);
  };
  return { ledger, web, config, ...hands, alerts, open, turn, warnings };
}

export async function enlist(ledger: Ledger, id: string): Promise<void> {
  const worker = { id, kind: 'serve', host: 'h', pid: 1, lockFile: `${id}.lock`, startedAt: born };
  await ledger.write((trx) => addWorker(trx, worker));
}
