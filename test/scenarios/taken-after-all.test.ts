import { expect, it } from 'vitest';
import type { Home, Json } from '../support/cli.ts';
import { sent } from '../support/decided.ts';

/** A payout turned away with 429, sent again, and shown twice: the service had taken the first after all. */
async function takenAfterAll(): Promise<Home> {
  const { home } = await sent('edge_429_once', { COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(2);
  await home.sandbox.settleAll();
  const [paid] = home.sandbox.book.find('PAY-0001');
  home.sandbox.book.plant({ ...paid });
  return home;
}
const certificateOf = (verified: Json): Json => verified.batches[0].certificate;

it('P8, P17: a 429 that was no refusal, after which we sent again, is reported as paid twice', async () => {
  const home = await takenAfterAll();
  const { discrepancies } = await home.json(['reconcile'], 4);
  expect(discrepancies.open).toMatchObject({ paid_twice: 1 });
  expect(discrepancies.open.duplicate_at_service).toBeUndefined();
  const { out } = await home.run(['discrepancies']);
  expect(out).toContain('paid twice');
});

it('P8: verify proves no at-most-once of it, and ends its complaint once a person has resolved it', async () => {
  const home = await takenAfterAll();
  expect(certificateOf(await home.json(['verify'], 0)), 'nobody has looked yet').toMatchObject({
    at_most_once: true,
    not_taken: 1,
  });
  await home.json(['reconcile'], 4);
  const refuted = { at_most_once: false, sends: 2, decisions: 0, not_taken: 0 };
  const verified = await home.json(['verify'], 1);
  expect(certificateOf(verified)).toEqual(refuted);
  const { problems } = verified.checks.find(({ name }: Json) => name === 'at_most_once');
  expect(JSON.stringify(problems)).toMatch(
    /PAY-0001: sent again at .* while an earlier send was taken, without a decision/,
  );
  const { discrepancies } = await home.json(['discrepancies', '--kind', 'paid_twice'], 4);
  await home.json(
    ['discrepancies', 'resolve', discrepancies[0].discrepancy_id, '--note', 'one came back', '--yes'],
    0,
  );
  expect(certificateOf(await home.json(['verify'], 0)), 'it stays a fact').toEqual(refuted);
});
