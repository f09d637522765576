import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkedRows } from '../../src/intake/rows.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const rules = { senderName: 'Acme', referencePrefix: 'ACME-', today: '2026-11-27', payOn: '' };

async function hashOf(text: string): Promise<string> {
  const path = join(temporaryFolder(), 'batch.csv');
  writeFileSync(path, text);
  for await (const item of checkedRows(path, rules, { maxBytes: 1_000_000, maxRows: 1000 }))
    if (item.kind === 'end') return item.contentHash;
  return '';
}

const row = '0123456785,Ada Obi,058,1500.00,NGN,Salary';
const head = 'account_number,account_name,bank_code,amount,currency,narration';
const cells = row.split(',');

it('P23: the form of what is hashed never changes: a row without a reference would be paid again', async () => {
  const places = JSON.stringify([null, ...cells.slice(0, 6), null, null]);
  const digest = (others: string): string =>
    createHash('sha256').update(`[${places},${others}]\n`).digest('hex');
  expect(await hashOf(`${head}\n${row}\n`)).toBe(digest('[]'));
  expect(await hashOf(`${head},Department\n${row},Sales\n`)).toBe(digest('[["Department","Sales"]]'));
});

it('P38: the same rows for another day are another file, however the column is spelled', async () => {
  const dated = (name: string, day: string): Promise<string> => hashOf(`${head},${name}\n${row},${day}\n`);
  expect(await dated('pay_on', '2026-12-24')).toBe(await dated('Pay On', '2026-12-24'));
  expect(await dated('pay_on', '2026-12-24')).not.toBe(await dated('pay_on', '2026-12-25'));
});
