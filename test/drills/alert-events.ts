import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/postgres-server.ts';
import { batchOf } from './batches.ts';
import { type DrillHome, openHome } from './home.ts';
import { ageJob, ageUnknowns, holdReconciliation, newestIn } from './ledger-hand.ts';
import { onSmallDisk } from './small-disk.ts';

/** A cause of an alert, and what its message says. */
export type AlertEvent = {
  name: string;
  said: RegExp;
  /** Makes it. Returns since when it is so: wall-clock milliseconds. */
  cause(home: DrillHome): Promise<number>;
  /** Recorded by a commit, which wakes the alerts; or seen by the look that comes each minute. */
  shows: 'by_commit' | 'by_look';
};

/** Events that happen one after the other on one home. */
export type Stage = {
  open(): Promise<DrillHome & { leave?(): Promise<void> }>;
  events: readonly AlertEvent[];
};

const everySecond = '* * * * * *';
const silentMs = 120_000;

/** What a commit records, all on one home. */
export const recorded: Stage = {
  async open() {
    const home = await openHome({ COUNTERFOIL_SCHEDULES_INTAKE: everySecond });
    await home.serve.start();
    home.drop('first.csv', batchOf('FIRST', 3));
    await untilSo(() => home.sandbox.book.transfers().length === 3);
    return home;
  },
  events: [
    {
      name: 'a file is refused',
      said: /file was refused/,
      shows: 'by_commit',
      cause: (home) => dropNow(home, 'broken.csv', 'reference,amount\nBROKEN-1,1.00\n'),
    },
    {
      name: 'a batch is held',
      said: /is held: 3 payouts of it wait/,
      shows: 'by_commit',
      // Its rows repeat those of an earlier batch.
      cause: (home) => dropNow(home, 'again.csv', batchOf('AGAIN', 3)),
    },
    {
      name: 'webhooks have wrong signatures',
      said: /webhooks about our payouts were refused/,
      shows: 'by_commit',
      async cause({ receiver }) {
        for (let n = 1; n <= 3; n++) {
          const body = JSON.stringify({ event: 'payout', reference: `FIRST-${n}`, status: 'success' });
          const headers = { 'content-type': 'application/json', payloadsignature: 'ab'.repeat(64) };
          await fetch(`${receiver}/webhooks/test`, { method: 'POST', headers, body });
        }
        return Date.now();
      },
    },
    {
      name: 'a high discrepancy is opened',
      said: /of high severity: duplicate_at_service/,
      shows: 'by_commit',
      async cause(home) {
        home.sandbox.faults.set('DOUBLE-1', 'duplicate');
        home.drop('double.csv', batchOf('DOUBLE', 1, 100));
        const booked = () => home.sandbox.book.transfers().filter((one) => one.reference === 'DOUBLE-1');
        await untilSo(() => booked().length === 2);
        await sleep(1000);
        await home.run('reconcile', '--full', '--json');
        return newestIn(home.dir, "select max(at) from discrepancy_events where event = 'opened'");
      },
    },
    {
      name: 'the service refuses the account, which halts sending',
      said: /Sending is halted: the service refuses the account/,
      shows: 'by_commit',
      async cause(home) {
        home.sandbox.faults.set('POOR-1', 'insufficient');
        home.drop('poor.csv', batchOf('POOR', 1, 200));
        const at = "select max(at) from halts where kind = 'account'";
        await untilSo(() => newestIn(home.dir, at) > 0);
        return newestIn(home.dir, at);
      },
    },
    {
      name: 'a person halts sending',
      said: /Sending is halted: a person stopped it/,
      shows: 'by_commit',
      async cause(home) {
        await home.run('hold', '--mode', '--yes');
        return newestIn(home.dir, "select max(at) from halts where kind = 'person'");
      },
    },
  ],
};

const database: Stage = {
  async open() {
    const server = await startPostgres({ fsync: 'on' });
    if (!server?.kill)
      throw new Error('there is no PostgreSQL of our own: install it and unset POSTGRES_URL');
    const home = await openHome({ COUNTERFOIL_LEDGER_URL: server.url });
    await home.serve.start();
    return { ...home, stopService: server.kill, leave: server.stop };
  },
  events: [
    {
      name: 'the database is away',
      said: /serve waits|database is away|has been away/i,
      shows: 'by_commit',
      async cause(home) {
        const at = Date.now();
        await home.stopService();
        return at;
      },
    },
  ],
};

const outcome: Stage = {
  async open() {
    const home = await openHome();
    await home.serve.start();
    return home;
  },
  events: [
    {
      name: 'an outcome is unknown for 15 minutes (set back by hand)',
      said: /outcome of 1 payout has been unknown for 15 minutes/,
      shows: 'by_look',
      async cause(home) {
        home.sandbox.faults.set('LOST-1', 'lost_before');
        home.drop('lost.csv', batchOf('LOST', 1));
        await untilSo(() => ageUnknowns(home.dir, 15) > 0);
        return Date.now();
      },
    },
  ],
};

const service: Stage = {
  async open() {
    const home = await openHome();
    await home.serve.start();
    return home;
  },
  events: [
    {
      name: 'the service is silent for two minutes',
      said: /payments service has not answered for two minutes/,
      shows: 'by_look',
      async cause(home) {
        await home.stopService();
        home.drop('silent.csv', batchOf('SILENT', 3));
        return Date.now() + silentMs;
      },
    },
  ],
};

const disk: Stage = {
  async open() {
    const scene = await onSmallDisk({}, 40);
    await scene.home.serve.start();
    return { ...scene.home, stopService: scene.begin, close: scene.close };
  },
  events: [
    {
      name: 'the disk is nearly full',
      said: /disk of the data folder has \d+ MiB left/,
      shows: 'by_look',
      async cause(home) {
        await home.stopService();
        return Date.now();
      },
    },
  ],
};

const times: Stage = {
  async open() {
    const [certificate, key] = ['cert.pem', 'key.pem'];
    const home = await openHome({
      COUNTERFOIL_RECEIVER_TLS_CERT: certificate,
      COUNTERFOIL_RECEIVER_TLS_KEY: key,
    });
    certify(home.dir, 60);
    await home.serve.start();
    return home;
  },
  events: [
    {
      name: 'the certificate ends in three days',
      said: /certificate of the receiver ends in \d days/,
      shows: 'by_look',
      async cause(home) {
        certify(home.dir, 3);
        return Date.now();
      },
    },
    {
      name: 'a job is overdue',
      said: /The job reconcile missed its time/,
      shows: 'by_look',
      async cause(home) {
        const release = await holdReconciliation(home.dir);
        ageJob(home.dir, 'reconcile', 24);
        const at = Date.now();
        void sleep(90_000).then(release);
        return at;
      },
    },
  ],
};

/** What a look shows, and outages: each stage on a home of its own, all at the same time. */
export const looked: readonly Stage[] = [database, outcome, service, disk, times];

async function dropNow(home: DrillHome, name: string, content: string): Promise<number> {
  home.drop(name, content);
  return Date.now();
}

/** A certificate of its own for loopback, and its key, beside the home's other files. */
function certify(dir: string, days: number): void {
  const [key, cert] = [join(dir, 'key.new'), join(dir, 'cert.new')];
  const of = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', String(days), ...of];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  renameSync(key, join(dir, 'key.pem'));
  renameSync(cert, join(dir, 'cert.pem'));
}

async function untilSo(isSo: () => boolean): Promise<void> {
  const began = performance.now();
  while (!isSo() && performance.now() - began < 60_000) await sleep(100);
}
