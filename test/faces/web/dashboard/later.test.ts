import { expect, it } from 'vitest';
import { mostHeld } from '../../../../src/faces/web/dashboard/later.sql.ts';
import { addBatch } from '../../../support/ledger.ts';
import { startDashboard, textOf } from './support.ts';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

it('P38: shows on the first page what goes out on which later day, and on a payout until when it waits', async () => {
  const own = await startDashboard();
  await addBatch(own.ledger, ['N-1'], { id: 'b-0' });
  await addBatch(own.ledger, ['A-1', 'A-2'], { pay_on: inDays(3) });
  await addBatch(own.ledger, ['B-1'], { id: 'b-2', pay_on: inDays(9) });
  await addBatch(own.ledger, ['C-1'], { id: 'b-3', pay_on: inDays(-2) });
  const { body } = await own.as('ada', '/');
  const table = /Goes out later[\s\S]*?<\/table>/.exec(body)?.[0] ?? '';
  const rows = table.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(rows).toMatch(/2 NGN 3,000\.00 .* 1 NGN 1,500\.00/);
  expect(rows.match(/NGN/g)).toHaveLength(2);
  expect((await own.as('ada', '/payouts/B-1')).body).toContain('Not sent before');
  expect((await own.as('ada', '/batches/b-2')).body).toMatch(/Not sent before[\s\S]*1 payout, NGN 1,500\.00/);
});

it('P38: counts what is held for a later day, and says so where too much is held to know', async () => {
  const { ledger, ask } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2'], { id: 'b-1', pay_on: inDays(3) });
  await addBatch(ledger, ['H-1'], { id: 'b-2', pay_on: inDays(3), state: 'held' });
  await addBatch(ledger, ['H-2'], { id: 'b-3', pay_on: inDays(5), state: 'held' });
  await addBatch(ledger, ['H-3'], { id: 'b-4', state: 'held' });
  const later = async (): Promise<string> =>
    /Goes out later.*?<\/section>/s.exec((await ask('/')).body)?.[0] ?? '';
  expect(textOf(await later())).toMatch(/ 3 1 held NGN 4,500\.00 .* 1 1 held NGN 1,500\.00 /);
  const many = Array.from({ length: mostHeld }, (_, n) => `M-${n}`);
  await addBatch(ledger, many, { id: 'b-5', state: 'held' });
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(textOf(await later())).toMatch(/ 2 NGN 3,000\.00 More than 10,000 payouts are held/);
});
