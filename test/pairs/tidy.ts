import * as intakeJob from '../../jobs/intake.ts';
import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../../src/app/app.ts';
import { readReasons } from '../../src/core/ledger/hold-reasons.ts';
import { endOfHold } from './ends.ts';
import { approve, cancel, release, releaseAll, retry, settle } from './moves/verbs.ts';
import type { Stage } from './stage.ts';

/** A person looks at what stands in the ledger, and ends it rightly, each by its verb. */
export function tidyUp(stage: Stage): void {
  const { town } = stage;
  if (!hasSomething(stage)) return;
  stage.command(async (app) => {
    if (town.inspector.isHalted()) await releaseAll(stage, app);
    await tidyHolds(stage, app);
    await intakeJob.run(app);
    await submitJob.run(app);
    await tidyPayouts(stage, app);
  });
}

async function tidyHolds(stage: Stage, app: App): Promise<void> {
  const sql = `select id, hold_reasons from batches b where phase = 'loaded' and (hold_reasons <> '[]'
    or exists (select 1 from payouts where batch_id = b.id and state = 'held')) order by id`;
  for (const { id, hold_reasons } of stage.town.inspector.rows<{ id: string; hold_reasons: string }>(sql)) {
    const verbs = new Set(readReasons(hold_reasons).map(({ kind }) => endOfHold[kind]));
    if (verbs.has('cancel')) await cancel(stage, app, id);
    else {
      if (verbs.has('release') || verbs.size === 0) await release(stage, app, id);
      if (isAboveLimit(stage, id)) await cancel(stage, app, id);
      const [first] = stage.town.inspector.rows<{ reference: string }>(
        'select reference from payouts where batch_id = ? order by id limit 1',
        id,
      );
      if (verbs.has('approve')) await approve(stage, app, { first: [first?.reference ?? ''] });
    }
  }
}

/** Somebody let the batch go, and a row that is above a whole day's limit stays. */
function isAboveLimit({ town }: Stage, batch: string): boolean {
  const sql = "select 1 from payouts where batch_id = ? and state = 'held' and withheld_by = 'limit' limit 1";
  return town.inspector.rows(sql, batch).length > 0;
}

/** What is unknown for longer than the quiet period goes out again where nothing of it is at the service. */
async function tidyPayouts(stage: Stage, app: App): Promise<void> {
  const { inspector, service, world, weather, begunAt, left, fall } = stage.town;
  // What comes back of a cancelled batch is held again: its unknown payouts are closed.
  const unknown = inspector.rows<{ reference: string; is_cancelled: number }>(
    `select reference, hold_reasons like '%"cancelled"%' as is_cancelled from payouts p join batches b on b.id = p.batch_id
     where p.state = 'unknown' order by p.id`,
  );
  for (const { reference, is_cancelled } of unknown) {
    const last = inspector.lastAttempt(reference);
    const since = Math.max(last ? begunAt(last.id) : 0, fall.fellAt() ?? 0);
    if (world.now() - since <= weather.quietPeriodMs) continue;
    const coming = left(reference) > service.book.arrivals(reference).length;
    if (coming) continue;
    const paid = service.book.timesPaid(reference) > 0;
    if (paid) await settle(app, reference, 'success');
    else if (service.book.entries(reference).length === 0 && is_cancelled === 0)
      await retry(stage, app, [reference]);
    else await settle(app, reference, 'failed');
  }
}

/** Whether a person would find something to do, or to send. */
function hasSomething({ town: { inspector } }: Stage): boolean {
  const sql = `select 1 from payouts where state in ('held', 'ready', 'unknown')
    union select 1 from file_moves where done_at is null union select 1 from batches where phase <> 'loaded'`;
  return inspector.isHalted() || inspector.rows(sql).length > 0;
}
