import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { csv, head, setting } from './setting.ts';

function banksFile(text: string): string {
  const path = join(temporaryFolder(), 'banks.csv');
  writeFileSync(path, text);
  return path;
}
const withBanks = (text: string) => setting(`intake: { banks_file: "${banksFile(text)}" }`);
const paid = (reference: string, bank: string): string =>
  `${reference},0123456785,Adaeze Okonkwo,${bank},100,NGN,Salary,Acme`;

it('refuses a bank code of another family and proposes the one of the list', async () => {
  const { intake, drop } = await withBanks(
    'code,name,aliases\n000013,GTBANK PLC,\n000014,ACCESS BANK,\n090267,KUDA,50211 kuda\n',
  );
  const rows = csv(
    paid('R-1', '058'),
    paid('R-2', '000013'),
    paid('R-3', '50211'),
    paid('R-4', '999'),
    paid('R-5', '44'),
    paid('R-6', '14'),
  );
  const { ok, problems } = await intake.check(drop('pay.csv', rows));
  expect(ok).toBe(false);
  expect(problems.map(({ row, column, value, fix }) => [row, column, value, fix.split(',')[0]])).toEqual([
    [2, 'bank_code', '058', 'write 000013 (GTBANK PLC)'],
    [4, 'bank_code', '50211', 'write 090267 (KUDA)'],
    [5, 'bank_code', '999', 'write the code that the list has for this bank'],
    [6, 'bank_code', '44', 'write 000014 (ACCESS BANK)'],
    [7, 'bank_code', '14', 'write 000014 (ACCESS BANK)'],
  ]);
  expect(problems[0]?.problem).toContain("not in the service's list of bank codes");
});

it('proposes no bank that the list lacks, and asks about no code without a list', async () => {
  const { intake, drop } = await withBanks('name;code\n"First; of Lagos";000016\n');
  const { problems } = await intake.check(drop('pay.csv', csv(paid('R-1', '058'), paid('R-2', '011'))));
  expect(problems.map(({ fix }) => fix.split(',')[0])).toEqual([
    'write the code that the list has for this bank',
    'write 000016 (First; of Lagos)',
  ]);
  const plain = await setting();
  expect((await plain.intake.check(plain.drop('pay.csv', csv(paid('R-1', '058'))))).ok).toBe(true);
});

it('warns above intake.narration_max and counts characters as people do', async () => {
  const told = async (yaml: string, narration: string): Promise<string[]> => {
    const { intake, drop } = await setting(yaml);
    const row = `R-1,0123456785,Adaeze Okonkwo,000013,100,NGN,${narration},Acme`;
    const { ok, rowWarnings } = await intake.check(drop('pay.csv', `${head}\n${row}\n`));
    expect(ok).toBe(true);
    return rowWarnings.map(({ text }) => text).filter((text) => text.includes('narration'));
  };
  expect(await told('', 'x'.repeat(100))).toEqual([]);
  expect(await told('', 'x'.repeat(101))).toEqual([expect.stringContaining('101 characters, more than 100')]);
  expect(await told('intake: { narration_max: 4 }', '🎉🎉🎉🎉')).toEqual([]);
  expect(await told('intake: { narration_max: 0 }', 'x'.repeat(500))).toEqual([]);
});
