import type { App } from '../../src/app/app.ts';
import { getBatch } from '../../src/core/ledger/batches.ts';
import { readReasons, releaseUnderWay } from '../../src/core/ledger/hold-reasons.ts';
import { approvalAsked, isAmong } from '../../src/sending/approval.ts';
import { approvalsOf, batchTotals, readApprovable, recordApproval } from '../../src/sending/approvals.sql.ts';
import { finishRelease } from '../../src/sending/holds.sql.ts';
import type { PeoplesAct } from './coverage.ts';
import type { Town } from './town.ts';

type How = Extract<PeoplesAct, `approve${string}`>;

const approver = { name: 'Bola', uid: 424_242 };

/** Batches with something unsent that no approval covers, where the rule of now, or of their intake, asks for one. */
export function waitingForApproval({ inspector }: Town, { config }: Pick<App, 'config'>): string[] {
  const always = config.submission.approval === 'none' ? 0 : 1;
  return inspector
    .rows<{ id: string }>(
      `select b.id from batches b where b.phase = 'loaded' and (b.approval_needed = 1 or ?)
        and exists (select 1 from payouts p where p.batch_id = b.id and p.state in ('held', 'ready')
          and not exists (select 1 from approvals a where a.batch_id = b.id and a.through_id >= p.id)) order by 1`,
      always,
    )
    .map(({ id }) => id);
}

/** Where people race, a release takes as many transactions as one of a large batch does. */
export function chunkOf({ weather }: Town): { chunk?: number } {
  return weather.long.races ? { chunk: 2 } : {};
}

/** What `approve BATCH` does; `approve own` by who dropped it, `approve what changed` after something else was shown. */
export async function approve(town: Town, app: App, how: How, id: string): Promise<void> {
  const { ledger, config } = app;
  const batch = await getBatch(ledger.db, id);
  if (!batch) return;
  const asked = approvalAsked(config.submission, await batchTotals(ledger.db, id));
  if (asked === null && batch.approval_needed === 0n) return;
  const shown = await readApprovable(ledger.db, batch);
  const before = (await approvalsOf(ledger.db, [id])).get(id) ?? [];
  const dropper = {
    name: batch.dropped_by,
    uid: batch.dropped_uid === null ? null : Number(batch.dropped_uid),
  };
  const by = how === 'approve own' ? dropper : approver;
  if (!before.some(({ throughId }) => throughId >= shown.throughId)) {
    const isOwn = isAmong(dropper, [by]);
    if (how === 'approve own' && !isOwn)
      town.world.violate('P2: nobody approves a batch of their own', `${id} by ${by.name}`);
    if (isOwn) return;
    const changed = how === 'approve what changed';
    const order = { batch, shown: changed ? another(shown) : shown, by: by.name, at: app.clock.iso() };
    if (!changed) town.brakes.approves(id, Number(shown.throughId));
    const done = await ledger.write((trx) => recordApproval(trx, order));
    if (changed && done.kind === 'approved')
      town.world.violate('P2: an approval is of what was shown', `${id} changed meanwhile`);
    if (done.kind !== 'approved' || done.others.length > 0) return;
  } else if (!releaseUnderWay(readReasons(batch.hold_reasons))) return;
  const { dailyLimit } = config.submission;
  await finishRelease(ledger, { batch: id, at: app.clock.iso(), dailyLimit, ...chunkOf(town) });
}

/** What the approver looked at, before a payout was added; or other bodies altogether. */
function another<Shown extends { bodies: string; throughId: bigint }>(shown: Shown): Shown {
  return shown.throughId % 2n === 0n
    ? { ...shown, throughId: shown.throughId - 1n }
    : { ...shown, bodies: 'f'.repeat(64) };
}
