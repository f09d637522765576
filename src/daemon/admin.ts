import * as backupJob from '../../jobs/backup.ts';
import type { App } from '../app/app.ts';
import type { Queue } from '../core/runtime/queue.ts';
import { within } from '../core/runtime/queue-session.ts';
import { scheduleList } from '../core/settings/schedule-list.ts';
import { openReader } from '../custody/snapshot.ts';
import { type AdminServer, createAdminServer } from '../faces/admin/admin-server.ts';
import { healthRoutes } from '../faces/admin/health.ts';
import type { MetricFacts } from '../faces/admin/ledger-metrics.ts';
import { metricsRoutes } from '../faces/admin/metrics.ts';
import { createProcessMetrics } from '../faces/admin/process-metrics.ts';
import { createReadiness } from '../faces/admin/readiness.ts';
import { apiRoutes } from '../faces/api/api.ts';
import { dashboardRoutes } from '../faces/web/dashboard/dashboard.ts';
import { findOn, type Scene } from '../findings/finders.ts';
import type { ProbedQueue } from '../findings/machine-findings.ts';
import { sayHalt } from '../words/halt-words.ts';

/** A scrape waits no longer for the server of a shared queue. */
const queueMs = 1000;

/** The admin server of a daemon; null where it is off. `shared`: the queue that daemons share, once it is joined. */
export function createAdmin(
  app: App,
  deps: {
    own: Queue;
    shared(): Queue | null;
    queues(): ProbedQueue[];
    isStarted(): boolean;
    service(): Scene['service'];
  },
): AdminServer | null {
  const { config, clock, log } = app;
  if (!config.admin.enabled) return null;
  const times = createProcessMetrics();
  app.watchTimes(times);
  const figures = async (): Promise<MetricFacts['queue']> => {
    const queue = deps.shared() ?? deps.own;
    return within(clock, queueMs, queue.depth()).then(
      (jobs) => ({ up: true, jobs }),
      () => ({ up: false, jobs: null }),
    );
  };
  const reader = openReader(app.ledger);
  const source = { ...app, db: reader.db, dataDir: config.dataDir };
  const findProblems = createReadiness({
    ...app,
    reader: reader.db,
    isStarted: deps.isStarted,
    queues: deps.queues,
  });
  const { ledger, account } = app;
  const backup = { job: backupJob.name, expression: backupJob.expressionOf(config) };
  const jobs = [...scheduleList(config.schedules), backup];
  const findWaiting = () =>
    findOn({
      face: 'today',
      ...{ db: reader.db, ledger, clock, config, account, jobs },
      work: 'serve',
      service: deps.service(),
    });
  const underWay = new Set<Promise<void>>();
  const background = (work: Promise<unknown>): void => {
    const ended: Promise<void> = work
      .then(() => undefined)
      .catch((err: unknown) => log.error({ err }, 'what a request began has failed'))
      .finally(() => underWay.delete(ended));
    underWay.add(ended);
  };
  const pages = {
    ...app,
    findHalt: async () => sayHalt(await app.findHalt()),
    ...{ reader: reader.db, source, findProblems, findWaiting, reports: app.paths.reports },
    desk: { app, background },
  };
  const server = createAdminServer({
    config,
    clock,
    log,
    traces: app.traces,
    routes: [
      healthRoutes(findProblems),
      metricsRoutes(source, { queue: figures, ofProcess: times.text }),
      dashboardRoutes(pages),
      apiRoutes({ app, findWaiting, background }),
    ],
  });
  return {
    ...server,
    async close() {
      times.stop();
      await server.close();
      await Promise.all(underWay);
      await reader.close();
    },
  };
}
