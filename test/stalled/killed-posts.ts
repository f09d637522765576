import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, createClient } from '../../src/client/client.ts';
import { command, finish, firstLine } from '../chaos/processes.ts';
import { csv, row } from '../intake/setting.ts';
import { paid } from './stalled.ts';
import { randomOf } from './uploads.ts';

export type PostFigures = {
  /** Posts that were cut at a random byte, and posts that came whole and whose answer nobody read. */
  cut: number;
  lost: number;
  /** How often `serve` was killed while files were posted. */
  serveKills: number;
  /** Files that were batches when they were posted again. */
  found: number;
  /** Batches that are not whole: other rows than their file has. */
  half: number;
  /** Batches above one a file, and references paid above once. */
  twice: number;
  missing: number;
  seconds: number;
};

type Post = { name: string; content: Buffer; rows: number; cut: number | null; waitMs: number };

const token = 'dayo-token-5f2c8e1b90';

/**
 * Posts files to a real `serve` over connections that break: at a random byte, or after the last one with the answer
 * unread. Each is posted again by the client until it has an answer. `serve` is killed with -9 meanwhile.
 */
export async function runKilledPosts(plan: {
  count: number;
  parallel: number;
  serveKills: number;
  seed: number;
  patienceMs: number;
  say(line: string): void;
}): Promise<PostFigures> {
  const random = randomOf(plan.seed);
  const posts = Array.from({ length: plan.count * 2 }, (_, n) => planPost(n, n % 2 === 0, random));
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-posts-'));
  const began = performance.now();
  await finish({ dir, env: {} }, ['init', dir]);
  const sandbox = command({ dir, env: {} }, ['sandbox', '--json', '--port', '0', '--settle-ms', '200']);
  const facts: Record<'url' | 'secret_key' | 'public_key' | 'encryption_key', string> = JSON.parse(
    await firstLine(sandbox),
  );
  const env = {
    COUNTERFOIL_SERVICE_BASE_URL: facts.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0',
    COUNTERFOIL_RECEIVER_ENABLED: 'false',
    COUNTERFOIL_ADMIN_PORT: '0',
    COUNTERFOIL_ADMIN_TOKENS: `dayo:${token}`,
    COUNTERFOIL_SCHEDULES_INTAKE: '* * * * * *',
    COUNTERFOIL_SCHEDULES_SUBMIT: '* * * * * *',
    ...Object.fromEntries(
      ['FOLLOW_UP', 'RECONCILE', 'RECONCILE_FULL', 'REPORT'].map((name) => [
        `COUNTERFOIL_SCHEDULES_${name}`,
        '',
      ]),
    ),
    COUNTERFOIL_TEST_SECRET_KEY: facts.secret_key,
    COUNTERFOIL_TEST_PUBLIC_KEY: facts.public_key,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: facts.encryption_key,
  };
  let serve: ChildProcess | undefined;
  let url = 'http://127.0.0.1:1';
  const begin = async (): Promise<void> => {
    serve = command({ dir, env }, ['serve', '--json']);
    serve.stderr?.resume();
    url = JSON.parse(await firstLine(serve)).admin;
  };
  const client = createClient({
    url: 'http://counterfoil.invalid',
    token,
    retries: 60,
    // It listens on another port after each kill.
    fetch: (input, init) => fetch(input.replace('http://counterfoil.invalid', url), init),
  });
  try {
    await begin();
    const left = posts.values();
    let done = 0;
    let found = 0;
    const killAt = new Set(
      Array.from({ length: plan.serveKills }, (_, k) =>
        Math.floor(((k + 0.5) * posts.length) / plan.serveKills),
      ),
    );
    let serveKills = 0;
    const lanes = Array.from({ length: plan.parallel }, async () => {
      for (const post of left) {
        await breakOff(url, post);
        // A broken connection may have brought the whole file: then it is a batch already.
        await client
          .postBatch(new Blob([new Uint8Array(post.content)]), { name: post.name, rows: post.rows })
          .catch((error: unknown) => {
            if (!(error instanceof ApiError) || error.kind !== 'taken_before') throw error;
            found++;
          });
        done++;
        if (done % 200 === 0) plan.say(`${done} of ${posts.length} files are batches`);
        if (!killAt.has(done)) continue;
        serveKills++;
        const killed = serve;
        killed?.kill('SIGKILL');
        if (killed) await once(killed, 'exit');
        await begin();
      }
    });
    await Promise.all(lanes);
    const batches = [];
    for (let after: string | undefined, more = true; more; ) {
      const page = await client.listBatches({ limit: 500, ...(after !== undefined && { after }) });
      batches.push(...page.batches);
      after = page.next ?? undefined;
      more = page.next !== null;
    }
    const rowsOf = new Map(posts.map(({ name, rows }) => [name, rows]));
    const references = new Set(posts.flatMap(({ name, rows }) => referencesOf(name, rows)));
    const book = await paid(facts, references.size, plan.patienceMs);
    const payments = Map.groupBy(book, ({ reference }) => reference);
    const byFile = Map.groupBy(batches, ({ file }) => file);
    const counted = (payouts: Partial<Record<string, number>>): number =>
      Object.values(payouts).reduce((sum: number, one = 0) => sum + one, 0);
    return {
      cut: plan.count,
      lost: plan.count,
      serveKills,
      found,
      half: batches.filter(
        ({ file, rows, payouts }) => rows !== rowsOf.get(file) || counted(payouts) !== rows,
      ).length,
      twice:
        [...byFile.values()].filter((some) => some.length > 1).length +
        [...payments.values()].filter((some) => some.length > 1).length,
      missing:
        posts.filter(({ name }) => !byFile.has(name)).length +
        [...references].filter((reference) => !payments.has(reference)).length,
      seconds: Math.round((performance.now() - began) / 1000),
    };
  } finally {
    for (const child of [serve, sandbox]) {
      if (!child) continue;
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

const referencesOf = (name: string, rows: number): string[] =>
  Array.from({ length: rows }, (_, i) => `${name.replace('.csv', '')}-${i}`);

function planPost(n: number, isCut: boolean, random: () => number): Post {
  const name = `post-${n}.csv`;
  const rows = random() < 0.02 ? 300 : 1 + Math.floor(random() * 8);
  const lines = referencesOf(name, rows).map((reference, i) =>
    row(reference, `${100 + i}.00`, String(1_000_000_000 + n * 400 + i), `Person Number ${n * 400 + i}`),
  );
  const content = Buffer.from(csv(...lines));
  const cut = isCut ? Math.floor(random() * content.length) : null;
  return { name, content, rows, cut, waitMs: Math.floor(random() * (isCut ? 60 : 1500)) };
}

/** Posts the file over a connection of its own, and destroys it: at the byte of the cut, or before the answer is read. */
async function breakOff(url: string, { name, content, cut, waitMs }: Post): Promise<void> {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  const lines = [
    `POST /api/v1/batches?name=${name} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: text/csv',
    `Content-Length: ${content.length}`,
  ];
  const request = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content]);
  const whole = request.length - content.length;
  socket.write(request.subarray(0, cut === null ? request.length : whole + cut));
  await sleep(waitMs);
  socket.destroy();
}
