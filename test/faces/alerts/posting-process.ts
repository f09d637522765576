import { tell } from '../../../src/core/ledger/events.ts';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { addWorker, endWorker, openWorkers } from '../../../src/core/runtime/workers.sql.ts';
import { loadConfig } from '../../../src/core/settings/settings.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { createEventPosts } from '../../../src/faces/alerts/event-posts.ts';

/** `post HOME WORKER`: posts events until it is killed. `tell HOME WORKER NUMBER`: makes so many happen. */
const [role = '', home = '', worker = '', number = '0'] = process.argv.slice(2);
const loaded = loadConfig({ cwd: home, env: process.env });
if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
const { config } = loaded;
const clock = systemClock();
const ledger = await openLedger(config.ledgerPlace, { now: clock.iso, mode: 'test' });

if (role === 'post') {
  const self = { id: worker, kind: 'serve', host: 'h', pid: process.pid, lockFile: `${worker}.lock` };
  await ledger.write(async (trx) => {
    // As a take-over does: the process before this one was killed.
    for (const { id } of await openWorkers(trx)) await endWorker(trx, id, clock.iso());
    await addWorker(trx, { ...self, startedAt: clock.iso() });
  });
  const log = { warn: () => undefined };
  // Pauses of seconds take a twentieth of that.
  const hurried = { ...clock, monotonic: () => clock.monotonic() * 20 };
  const posts = createEventPosts({ ledger, clock: hurried, config, log, worker });
  const { signal } = new AbortController();
  for (;;) {
    await posts.post(signal);
    await clock.sleep(5);
  }
}
for (let told = 0; told < Number(number); ) {
  // Each transaction tells a few, and goes on where the last committed one ended.
  await ledger.write(async (trx) => {
    const last = await trx
      .selectFrom('events')
      .select('data')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    told = last ? Number(JSON.parse(last.data).month) : 0;
    const few = Array.from({ length: Math.min(20, Number(number) - told) }, (_, i) => `${told + 1 + i}`);
    told += few.length;
    await tell(
      trx,
      clock.iso(),
      few.map((month) => ({ type: 'month.closed', data: { month, digest: worker } })),
    );
  });
  await clock.sleep(4);
}
await ledger.close();
