import { type App, openApp } from '../../src/app/app.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { problemTexts } from '../custody/worded.ts';
import type { Town } from './town.ts';

type Open = { reference: string; state: string };

/**
 * P32: when all is over, a person closes each payout that nothing made final, by what the bank statement says; that ends
 * it, and the ledger is proven all the same.
 */
export async function judgeClosing(town: Town): Promise<void> {
  const { world, config } = town;
  const open = stillOpen(town);
  if (open.length === 0 || world.violation()) return;
  const { life, options } = town.begin('person');
  const work = async (): Promise<void> => {
    const app = await openApp('whole', { ...options, kind: 'command' });
    for (const one of open) await close(town, app, one);
    await app.close();
    life.kill('done');
  };
  const start = (): void => {
    work().catch((error: unknown) => town.failed(life, 'closing', error));
  };
  world.after(0, null, start);
  await world.runUntil(world.now() + 24 * 3_600_000);
  for (const { reference, state } of stillOpen(town))
    world.violate('P32: a person can end every state', `it is ${state} after settle`, reference);
  const verdict = await verifyLedger(config.ledgerFile);
  if (!verdict.ok) world.violate('verify agrees', problemTexts(verdict).slice(0, 5).join('; '));
}

function stillOpen({ inspector }: Town): Open[] {
  return inspector.rows<Open>(
    "select reference, state from payouts where state in ('held', 'ready', 'pending', 'unknown') order by id",
  );
}

/** What `settle` does: it asks the service, shows the evidence, and records the person's word. */
async function close({ world, service }: Town, app: App, { reference, state }: Open): Promise<void> {
  const { payouts } = await app.decisions.find([reference]);
  const ids = payouts.map(({ id }) => id);
  const since = app.clock.iso();
  await app.lookUps.lookUp(ids);
  const { digest } = await app.decisions.weigh(ids, since);
  const as = service.book.timesPaid(reference) > 0 ? 'success' : 'failed';
  const note = 'the bank statement says so';
  const decision = await app.decisions.settle({ ids, since, digest, person: 'Ada', as, note });
  world.coverage.count('person: close what is left');
  if (decision.kind !== 'decided')
    world.violate(
      'P32: a person can end every state',
      `it is ${state}, and settle changes nothing`,
      reference,
    );
}
