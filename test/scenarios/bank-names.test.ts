import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import readSheets from 'read-excel-file/node';
import { expect, it } from 'vitest';
import { csv, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { readResults } from '../support/paper.ts';

it('names the bank beside its code in the report of a run, in results.csv and in results.xlsx', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'never_settles' }, settleMs: 1 });
  const banks = join(home.dir, 'config', 'banks.csv');
  writeFileSync(banks, 'code,name\n058,Guaranty <Trust>\n');
  const named = { COUNTERFOIL_INTAKE_BANKS_FILE: banks, COUNTERFOIL_RECONCILIATION_STALE_PENDING_HOURS: '0' };
  const { batches } = await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0, named);
  const run = await home.json(['reconcile'], 4, named);
  const [report = ''] = run.reports.filter((path: string) => path.endsWith('report.html'));
  expect(readFileSync(report, 'utf8')).toContain('058 Guaranty &#60;Trust&#62;');
  const [{ batch }] = batches;
  expect(readResults(join(home.dir, 'data/reports'), batch)[0]).toMatchObject({
    bank_code: '058',
    bank_name: 'Guaranty <Trust>',
  });
  const sheets = await readSheets(join(home.dir, 'data/reports', batch, 'results.xlsx'));
  expect(sheets[1]?.data[0]?.at(-1)).toBe('bank_name');
  expect(sheets[1]?.data[1]?.at(-1)).toBe('Guaranty <Trust>');
});
