import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { archiveLedger } from '../../src/custody/archive/archive-ledger.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { makeLedger, type TestLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { addSent, closedNovember, december, novemberEnds } from './archive-world.ts';
import { problemTexts } from './worded.ts';

const program = fileURLToPath(new URL('archive-process.ts', import.meta.url));
const tries = 5;
const limitMs = 300_000;

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  for (let n = 0; n < 4; n++)
    await addSent(
      ledger,
      `bulk-${n}`,
      5 + n,
      Array.from({ length: 150 }, () => 'success' as const),
    );
  await closedNovember(ledger, ledger.folder);
  await ledger.close();
});
afterEach(() => rmSync(ledger.folder, { recursive: true, force: true }));

const now = (): string => december(14);

/** Archives a copy of the ledger in a process that is killed `afterMs` after the step began; returns the copy. */
async function killedIn(step: string, afterMs: number): Promise<string> {
  const folder = join(ledger.folder, `${step}-${afterMs}`);
  mkdirSync(folder);
  const path = join(folder, 'ledger.db');
  copyFileSync(ledger.path, path);
  cpSync(`${ledger.path}.mark`, `${path}.mark`);
  const child = spawn(process.execPath, [program, path, novemberEnds, now()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let heard = '';
  for await (const piece of child.stdout) {
    heard += String(piece);
    if (!heard.includes(`${step}\n`)) continue;
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    child.kill('SIGKILL');
    break;
  }
  await ended;
  return path;
}

/** Which batches are in the archive, and whether all that the ledger is said to hold is proven. */
async function standing(path: string): Promise<{ archived: string[]; problems: string[] }> {
  const verdict = await verifyLedger(path);
  const archived = verdict.batches.filter((one) => one.archived).map(({ batch }) => batch);
  return { archived, problems: problemTexts(verdict) };
}

const all = ['bulk-0', 'bulk-1', 'bulk-2', 'bulk-3', 'ended'];

describe.skipIf(onPostgres).each(['copy', 'prove', 'strip', 'shrink'])(
  'killed with SIGKILL in the step %s',
  (step) => {
    it(
      'P34: all is in the ledger or all is in the archive, and the same command again finishes',
      async () => {
        for (let n = 0; n < tries; n++) {
          const path = await killedIn(step, n * (step === 'prove' ? 60 : 12));
          const left = await standing(path);
          expect(left.problems).toEqual([]);
          expect([[], all]).toContainEqual(left.archived);
          const again = await archiveLedger({ path, before: novemberEnds, now });
          expect(['archived', 'nothing']).toContain(again.kind);
          expect(await standing(path)).toEqual({ archived: all, problems: [] });
          expect(readdirSync(join(path, '..', 'archive'))).toEqual(['ledger-2026-11.db']);
          const opened = await openLedger(path, { now });
          const rows = await opened.db.selectFrom('payouts').select('reference_key').execute();
          expect(new Set(rows.map((row) => row.reference_key)).size).toBe(4 * 150 + 4 + 2 + 1);
          await opened.close();
          rmSync(join(path, '..'), { recursive: true });
        }
      },
      limitMs,
    );
  },
);
