import { startRedis } from '../support/redis-server.ts';
import { batchOf } from './batches.ts';
import { forge } from './forge.ts';
import { openHome } from './home.ts';
import { ageJob, holdReconciliation } from './ledger-hand.ts';
import type { Outage } from './outage.ts';
import { onSmallDisk } from './small-disk.ts';

const mebibyte = 1024 * 1024;

export const outages: readonly Outage[] = [
  {
    name: 'Redis killed',
    async open(settings) {
      const redis = await startRedis();
      if (!redis?.kill) throw new Error('no redis-server of our own: install it and unset REDIS_URL');
      const home = await openHome({ ...settings, COUNTERFOIL_QUEUE_URL: redis.url });
      const close = async () => {
        await home.close();
        await redis.stop();
      };
      return { home, begin: redis.kill, mend: redis.start, close };
    },
    readyz: /^queue: the shared queue/,
    metrics: (value) => value('counterfoil_queue_up') === 0,
    dashboard: /the shared queue takes and gives no jobs/i,
    alert: /^ALERT +The queue/m,
  },
  {
    name: 'disk nearly full',
    open: (settings) => onSmallDisk(settings, 40),
    readyz: /^disk: \d+ MiB are free/,
    metrics: (value) => value('counterfoil_disk_free_bytes') < 64 * mebibyte,
    dashboard: /\d+ MiB are free on the disk/i,
    alert: /^ALERT +The disk of the data folder has \d+ MiB left/m,
  },
  {
    name: 'disk full at once',
    open: (settings) => onSmallDisk(settings, 0),
    readyz: 'none',
    metrics: 'none',
    dashboard: 'none',
    alert: /^ALERT +serve has stopped/m,
    ends: 'unsaid',
  },
  {
    name: 'payments service stopped',
    async open(settings) {
      const home = await openHome(settings);
      const begin = async () => {
        // Its last success was last night's. To stop the service takes as long as its open connections last.
        ageJob(home.dir, 'reconcile', 24);
        await home.stopService();
      };
      return { home, begin, mend: home.startService, close: home.close };
    },
    // Until the next run it is overdue: its success was aged.
    readyz: /^schedules: (the last run of reconcile (failed|was incomplete)|reconcile is overdue)/,
    metrics: (value) =>
      ['failed', 'incomplete'].some(
        (result) => value(`counterfoil_job_last_result{job_name="reconcile",result="${result}"}`) === 1,
      ),
    dashboard: /the last run of reconcile (failed|was incomplete)/i,
    alert:
      /^ALERT +(The payments service has not answered|The last run of the job reconcile failed|The job reconcile missed its time)/m,
  },
  {
    name: '100 forged webhooks',
    async open(settings) {
      const home = await openHome(settings);
      return { home, begin: () => forge(home.receiver, 100), mend: async () => {}, close: home.close };
    },
    readyz: null,
    metrics: (value) => value('counterfoil_webhooks_rejected_total{reason="signature_wrong"}') === 100,
    dashboard: /100 turned away/,
    alert: null,
    ends: 'counted',
  },
  {
    name: 'a schedule slips: its run hangs',
    async open(settings) {
      const home = await openHome(settings);
      let release = async (): Promise<void> => {};
      const begin = async () => {
        release = await holdReconciliation(home.dir);
        ageJob(home.dir, 'reconcile', 24);
      };
      return { home, begin, mend: () => release(), close: home.close };
    },
    readyz: /^schedules: reconcile is overdue/,
    metrics: (value) =>
      Date.now() / 1000 - value('counterfoil_job_last_success_timestamp_seconds{job_name="reconcile"}') >
      3600,
    dashboard: /reconcile is overdue/i,
    alert: /^ALERT +The job reconcile missed its time/m,
  },
  {
    name: 'sending halted by the service',
    async open(settings) {
      const home = await openHome(settings);
      const begin = async () => {
        home.sandbox.faults.set('DRILL-1', 'insufficient');
        home.drop('drill.csv', batchOf('DRILL', 3));
      };
      const mend = async () => {
        home.sandbox.faults.clear();
        const { code, err } = await home.run('release', '--mode', '--yes');
        if (code !== 0) throw new Error(`release: ${err}`);
      };
      return { home, begin, mend, close: home.close };
    },
    readyz: null,
    metrics: (value) => value('counterfoil_halted{cause="account"}') === 1,
    dashboard: /Sending is halted/,
    alert: /^ALERT +Sending is halted: the service refuses the account/m,
  },
  {
    name: 'serve killed',
    async open(settings) {
      const home = await openHome(settings);
      return { home, begin: () => home.serve.end('SIGKILL'), mend: home.serve.start, close: home.close };
    },
    readyz: 'none',
    metrics: 'none',
    dashboard: 'none',
    alert: null,
  },
];
