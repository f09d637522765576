import { expect, it, onTestFinished } from 'vitest';
import { noBrakes } from '../../src/sending/brakes.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { at, makeLedger } from '../support/ledger.ts';

it('P34, P38: looks at the files of today while the service was not heard yet', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const days: string[] = [];
  const confirmFiles = async (day: string): Promise<void> => void days.push(day);
  const clock = { iso: () => at(1) };
  await createBrakes({ ledger, clock, brakes: noBrakes, serviceNow: () => undefined, confirmFiles }).settle();
  expect(days).toEqual([at(1).slice(0, 10)]);
});
