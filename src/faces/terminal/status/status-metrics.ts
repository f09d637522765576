import { homeMetrics } from '../../admin/metrics.ts';
import { queueStanding } from '../../json/queue-standing.ts';
import type { Result } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';

/** `status --metrics`: the figures of /metrics that the ledger holds, for a textfile collector under cron. */
export async function statusMetrics(context: Context): Promise<Result> {
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const { reachable, depth } = await queueStanding(app);
    const source = { ...app, db: app.ledger.db, dataDir: app.config.dataDir };
    const text = await homeMetrics(source, { up: reachable, jobs: depth });
    return { code: 0, lines: text.trimEnd().split('\n') };
  });
}
