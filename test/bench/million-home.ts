import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MillionOrder } from './million-service.ts';
import type { Answer } from './service.ts';

/** The service's port stays the same: what was sent to another address proves nothing (P31). */
export const servicePort = 18_999;
export const adminPort = 18_998;

/** Of a person with every role. */
export const deskToken = 'bench-token-5f2c8e1b90';

export const keys = {
  COUNTERFOIL_ADMIN_TOKENS: `bench:${deskToken}`,
  COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_bench',
  COUNTERFOIL_TEST_PUBLIC_KEY: 'pk_test_bench',
  COUNTERFOIL_TEST_ENCRYPTION_KEY: 'enc_test_bench',
};

/** Writes the configuration: no rate limit, and a daemon that does nothing by itself. */
export function writeHome(dir: string): void {
  const off = { intake: '', submit: '', follow_up: '', reconcile: '', reconcile_full: '', report: '' };
  const settings = {
    mode: 'test',
    service: { base_url: `http://127.0.0.1:${servicePort}`, concurrency: 32, requests_per_second: 0 },
    receiver: { enabled: true, port: 0 },
    admin: { port: adminPort },
    reconciliation: { missing_grace_minutes: 0 },
    schedules: off,
  };
  mkdirSync(join(dir, 'config'), { recursive: true });
  writeFileSync(join(dir, 'config', 'counterfoil.yaml'), JSON.stringify(settings));
  mkdirSync(join(dir, 'data', 'inbox'), { recursive: true });
}

export type MillionService = { tell(order: MillionOrder): Promise<number>; stop(): Promise<void> };

/** Starts the service with the book that it kept in `dir`, if any. */
export async function startMillionService(dir: string): Promise<MillionService> {
  const script = fileURLToPath(new URL('./million-service.ts', import.meta.url));
  const child = fork(script, [String(servicePort), join(dir, 'book.jsonl')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: ['--max-old-space-size=6000'],
  });
  await next(child);
  return {
    async tell(order) {
      const answer = next(child);
      child.send(order);
      const said = await answer;
      return said.kind === 'settled' ? said.successes : 0;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.send({ do: 'stop' } satisfies MillionOrder);
      await gone;
    },
  };
}

async function next(child: ChildProcess): Promise<Answer> {
  const [answer]: Answer[] = await once(child, 'message');
  if (!answer) throw new Error('the service said nothing');
  return answer;
}
