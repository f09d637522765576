import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

const columns = [
  'reference',
  'account_number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'narration',
  'sender_name',
];

/** Row `i` of the bench's batch: an account and an amount of its own, so that nothing looks like a duplicate. */
export function orderOf(i: number): Record<string, string> {
  const cells = [
    `OURS-${i}`,
    String(1_000_000_000 + i),
    `Beneficiary Number ${i}`,
    '058',
    `${1000 + i}.00`,
    'NGN',
    'Salary November 2026',
    'Savanna Textiles Ltd',
  ];
  return Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? '']));
}

/** Writes a batch of `rows` payouts, a piece at a time: the bench tells its own process's peak of memory. */
export async function writeBatch(path: string, rows: number): Promise<void> {
  await pipeline(lines(rows), createWriteStream(path));
}

function* lines(rows: number): Generator<string> {
  yield `${columns.join(',')}\n`;
  for (let i = 0; i < rows; i++) yield `${Object.values(orderOf(i)).join(',')}\n`;
}
