import { batchCounts, getBatch } from '../ledger/batches.ts';
import { findHalt, halt, liftHalt } from '../ledger/claims.ts';
import { setHeld } from '../ledger/holds.ts';
import { type Context, withLocal } from './context.ts';
import { countsText } from './describe.ts';
import { type Result, Stop } from './result.ts';

/** `hold BATCH`, `hold --mode`: the brake (P21). Says what was already on its way. */
export async function hold(
  context: Context,
  args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  return withLocal(context, async (app) => {
    const { mode } = app.config;
    const at = app.clock.iso();
    if (options.mode) {
      await app.ledger.write((trx) => halt(trx, mode, 'held by a person', at));
      return {
        code: 0,
        lines: [`everything in mode ${mode} is held; counterfoil release --mode lifts it`],
        json: { mode, held: true },
      };
    }
    const batch = await oneBatch(app, args);
    const moved = await setHeld(app.ledger, {
      mode,
      batch,
      held: true,
      reason: 'held by a person; counterfoil release lifts it',
      at,
    });
    const [now] = await batchCounts(app.ledger.db, mode, [batch]);
    const { ready: _r, held: _h, ...underWay } = now?.counts ?? {};
    const lines = [`${batch}: ${moved} payouts held; already on their way or done: ${countsText(underWay)}`];
    return { code: 0, lines, json: { batch, held: moved, under_way: underWay } };
  });
}

/** `release BATCH`, `release --mode`: lets a held batch go, or lifts a halt (P11). */
export async function release(
  context: Context,
  args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  return withLocal(context, async (app) => {
    const { mode } = app.config;
    const at = app.clock.iso();
    if (options.mode) {
      const lifted = await app.ledger.write((trx) => liftHalt(trx, mode, at));
      const line = lifted
        ? `the halt of mode ${mode} (${lifted.cause}) is lifted`
        : `mode ${mode} was not halted`;
      return {
        code: 0,
        lines: [line],
        json: { mode, released: Boolean(lifted), cause: lifted?.cause ?? null },
      };
    }
    const batch = await oneBatch(app, args);
    const moved = await setHeld(app.ledger, { mode, batch, held: false, reason: '', at });
    const halted = await findHalt(app.ledger.db, mode);
    const lines = [`${batch}: ${moved} payouts released`];
    if (halted) lines.push(`sending is still halted: ${halted.cause}. counterfoil release --mode lifts it`);
    return { code: 0, lines, json: { batch, released: moved } };
  });
}

async function oneBatch(
  app: Parameters<Parameters<typeof withLocal>[1]>[0],
  args: string[],
): Promise<string> {
  const [name] = args;
  if (!name) throw new Stop(2, 'name a batch, or say --mode for everything');
  const batch = await getBatch(app.ledger.db, app.config.mode, name);
  if (!batch) throw new Stop(2, `no batch "${name}" in this ledger: counterfoil status lists them`);
  return batch.id;
}
