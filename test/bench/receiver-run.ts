import { parseArgs } from 'node:util';
import { measureReceiver, type ReceiverFigures, receiverWords } from './receiver.ts';
import { medianOf } from './table.ts';

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '3' } },
});
const [rows, rounds] = [Number(values.rows), Number(values.rounds)];
if (!Number.isInteger(rows) || rows < 1 || !Number.isInteger(rounds) || rounds < 1)
  throw new Error('--rows and --rounds: expected whole numbers from 1');

const shares: number[] = [];
for (let round = 1; round <= rounds; round++) {
  const figures = await measureReceiver(rows);
  shares.push(shareOf(figures));
  console.log(
    `round ${round}: ${Math.round(rows / figures.seconds)}/s, the bare HMAC server ${Math.round(rows / figures.bareSeconds)}/s: ${shareOf(figures).toFixed(2)} of it`,
  );
  for (const line of receiverWords(figures)) console.log(`  ${line}`);
}
const median = medianOf(shares);
console.log(`median of ${rounds}: ${median.toFixed(2)} of the bare HMAC server`);

function shareOf({ seconds, bareSeconds }: ReceiverFigures): number {
  return bareSeconds / seconds;
}
