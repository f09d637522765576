import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/server-process.ts';
import { command, finish, firstLine, type Place } from './processes.ts';
import type { Planned } from './verdict.ts';

export type Setting = { place: Place; url: string; key: string; ledger: string; sandbox: ChildProcess };

const columns = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';
const files = 10;

/** A home as `init` makes it, its inbox full, and a sandbox in a process of its own that books every body it gets. */
export async function prepare(planned: Planned, ledgerUrl?: string): Promise<Setting> {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-chaos-'));
  await finish({ dir, env: {} }, ['init', dir]);
  const port = await freePort();
  const webhooks = ['--webhook-url', `http://127.0.0.1:${port}/webhooks/test`];
  const sandbox = command({ dir, env: {} }, [
    ...['sandbox', '--json', '--port', '0', '--settle-ms', '500', '--duplicates', 'accept'],
    ...webhooks,
  ]);
  const facts: { url: string; secret_key: string; public_key: string; encryption_key: string } = JSON.parse(
    await firstLine(sandbox),
  );
  const every = '* * * * * *';
  const env = {
    COUNTERFOIL_SERVICE_BASE_URL: facts.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: String(planned.perSecond),
    COUNTERFOIL_SERVICE_CONCURRENCY: String(planned.concurrency),
    COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0',
    COUNTERFOIL_SUBMISSION_SEND_DEADLINE_MS: String(planned.sendDeadlineMs),
    COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0',
    COUNTERFOIL_RECEIVER_PORT: String(port),
    COUNTERFOIL_ADMIN_PORT: '0',
    COUNTERFOIL_SCHEDULES_INTAKE: every,
    COUNTERFOIL_SCHEDULES_SUBMIT: every,
    COUNTERFOIL_SCHEDULES_FOLLOW_UP: every,
    COUNTERFOIL_SCHEDULES_RECONCILE: '',
    COUNTERFOIL_SCHEDULES_RECONCILE_FULL: '',
    COUNTERFOIL_SCHEDULES_REPORT: '',
    ...(ledgerUrl !== undefined && { COUNTERFOIL_LEDGER_URL: ledgerUrl }),
    COUNTERFOIL_TEST_SECRET_KEY: facts.secret_key,
    COUNTERFOIL_TEST_PUBLIC_KEY: facts.public_key,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: facts.encryption_key,
  };
  const ledger = ledgerUrl ?? join(dir, 'data', 'ledger.db');
  const setting = { place: { dir, env }, url: facts.url, key: facts.secret_key, ledger, sandbox };
  // The ledger must be there before anybody looks into it; to look is not enough to make one.
  await finish(setting.place, ['submit']);
  writeBatches(join(dir, 'data', 'inbox'), planned.payouts);
  return setting;
}

/** The amount of payout `i` in minor units: whole naira, all different from their neighbours. */
export function minorOf(i: number): number {
  return (1000 + (i % 90_000)) * 100;
}

function writeBatches(inbox: string, payouts: number): void {
  mkdirSync(inbox, { recursive: true });
  const each = Math.ceil(payouts / files);
  for (let from = 0, file = 1; from < payouts; from += each, file++) {
    const lines = Array.from({ length: Math.min(each, payouts - from) }, (_, at) => {
      const i = from + at;
      const amount = (minorOf(i) / 100).toFixed(2);
      return `CHAOS-${i},${1_000_000_000 + i},Beneficiary ${i},058,${amount},NGN,Salary,Savanna Textiles Ltd`;
    });
    writeFileSync(join(inbox, `chaos-${file}.csv`), `${[columns, ...lines].join('\n')}\n`);
  }
}
