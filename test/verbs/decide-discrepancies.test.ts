import { expect, it, onTestFinished } from 'vitest';
import { discrepancyMark, findByIds } from '../../src/books/discrepancies/discrepancy-decisions.sql.ts';
import { decideVerb, resolveVerb } from '../../src/verbs/decide-discrepancies.ts';
import { addDiscrepancy, makeWorld } from '../books/support.ts';

it('decides all of a list, or none where one of them is no longer what the person saw', async () => {
  const world = await makeWorld();
  onTestFinished(world.close);
  const { ledger } = world;
  for (const id of ['D-1', 'D-2']) await addDiscrepancy(ledger, id);
  const seen = await findByIds(ledger.db, ['D-1', 'D-2']);
  const decisions = seen.map((one, index) => ({
    verdict: index === 0 ? ('acknowledge' as const) : ('resolve' as const),
    ids: [one.id],
    note: 'asked the bank',
    shown: { [one.id]: discrepancyMark(one) },
  }));
  const parts = {
    ledger,
    clock: { iso: () => '2026-11-21T13:00:00.000Z' },
    config: { mode: 'test' as const },
  };
  const order = () => decideVerb.run(parts, { decisions }, { name: 'ada', accounts: [], noted: '' });
  const states = async () => (await findByIds(ledger.db, ['D-1', 'D-2'])).map(({ state }) => state);

  const change = (actual: string) =>
    ledger.db.updateTable('discrepancies').set({ actual }).where('id', '=', 'D-2');
  await change('another').execute();
  expect(await order()).toEqual({ kind: 'refused', why: { kind: 'changed', id: 'D-2' } });
  expect(await states(), 'not even the first').toEqual(['open', 'open']);

  await change(seen[1]?.actual ?? '').execute();
  expect(await order()).toMatchObject({ kind: 'decided', changed: 2, open: {} });
  expect(await states()).toEqual(['acknowledged', 'resolved']);
});

it.each([
  [{ filter: {}, note: 'done' }, 'name a kind, a batch or an instant'],
  [{ filter: { batch: 'b-1' }, ids: ['D-1'], note: 'done' }, 'not both'],
  [{ filter: { batch: 'b-1' }, shown: { 'D-1': 'stale' }, note: 'done' }, 'not both'],
])('takes no order that would decide more than it names: %j', (order, why) => {
  expect(() => resolveVerb.input.parse(order)).toThrow(why);
});
