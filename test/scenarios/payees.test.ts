import { expect, it } from 'vitest';
import { csv, flat } from '../support/cli.ts';
import { droppedByAlice, makeHome } from '../support/decided.ts';

const rule = {
  COUNTERFOIL_SUBMISSION_PAYEES: 'approve_changed',
  COUNTERFOIL_SUBMISSION_DUPLICATE_WINDOW_DAYS: '0',
};
const names = ['Adaeze Okonkwo', 'Musa Bello', 'Tunde Bakare', 'Ngozi Obi'];

/** Each of four people once; `accounts`: those that are not the usual ones, by row. */
function month(prefix: string, amount: string, accounts: Record<number, string> = {}): string {
  return csv(
    ...names.map((name, i) => {
      const account = accounts[i + 2] ?? String(1_000_000_000 + i);
      return `${prefix}-${i + 1},${account},${name},058,${amount},NGN,Salary,Acme Ltd`;
    }),
  );
}

it('P37: amounts in kobo for naira are named by check, dry run and approval, and hold the batch', async () => {
  const home = await makeHome({}, rule);
  await home.json(['submit', home.put('november.csv', month('NOV', '1500.00'))], 0);
  const file = home.put('december.csv', month('DEC', '150000.00'));
  const said =
    /4 amounts a hundred times those of before: rows 2, 3, 4, 5; kobo or cents.*all NGN amounts end in two zeros/;
  for (const args of [
    ['check', file],
    ['submit', file, '--dry-run'],
  ]) {
    const done = await home.run(args);
    expect(flat(done.out + done.err), args.join(' ')).toMatch(said);
  }
  const { batches } = await home.json(['submit', file], 4);
  expect(batches[0].hold_reasons.join()).toContain('4 amounts a hundred times those of before');
  await droppedByAlice(home);
  const approved = await home.run(['approve', batches[0].batch]);
  expect(flat(approved.out + approved.err)).toMatch(said);
});
