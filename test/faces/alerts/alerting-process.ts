import { systemClock } from '../../../src/core/runtime/clock.ts';
import { createJobsStore } from '../../../src/core/runtime/jobs.sql.ts';
import { addWorker } from '../../../src/core/runtime/workers.sql.ts';
import { loadConfig } from '../../../src/core/settings/settings.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { createAlerts } from '../../../src/faces/alerts/alerts.ts';

/** Looks and sends without a pause until it is killed: `HOME WORKER`. */
const [home = '', worker = ''] = process.argv.slice(2);
const loaded = loadConfig({ cwd: home, env: process.env });
if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
const { config } = loaded;
const clock = systemClock();
const ledger = await openLedger(config.ledgerPlace, { now: clock.iso, mode: 'test' });
const self = { id: worker, kind: 'serve', host: 'h', pid: process.pid, lockFile: `${worker}.lock` };
await ledger.write((trx) => addWorker(trx, { ...self, startedAt: clock.iso() }));
const log = { warn: () => undefined };
const alerts = createAlerts({ ledger, clock, config, log, jobsStore: createJobsStore(ledger), worker });
const signal = new AbortController().signal;
for (;;) {
  await alerts.look({ daemon: true });
  await alerts.deliver(signal);
}
