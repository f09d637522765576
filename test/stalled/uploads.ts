import { appendFileSync, closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { csv, row } from '../intake/setting.ts';

/** One upload: what it is when whole, where its writer stalls, for how long, and whether it keeps the file open meanwhile. */
export type Upload = { name: string; content: Buffer; cut: number; stallMs: number; keepsOpen: boolean };

export type Planned = { uploads: Upload[]; amounts: Map<string, string> };

const rowsPerFile = 3;
/** Behind one who closes the file, settling cannot tell a stall at a line end from the end: such a stall is shorter. */
const shortOfSettling = 0.6;

/** Uploads with random cuts, decided by the seed alone; `amounts` is what must be paid, by reference. */
export function planUploads(plan: { count: number; settleMs: number; seed: number }): Planned {
  const random = randomOf(plan.seed);
  const amounts = new Map<string, string>();
  const uploads = Array.from({ length: plan.count }, (_, n): Upload => {
    const rows = Array.from({ length: rowsPerFile }, (_, i) => {
      const amount = `${10_000 + n * 10 + i}.00`;
      amounts.set(`U${n}-${i}`, amount);
      return row(`U${n}-${i}`, amount, String(1_000_000_000 + n * 10 + i));
    });
    const content = Buffer.from(csv(...rows));
    const cut = 1 + Math.floor(random() * (content.length - 1));
    const keepsOpen = random() < 0.5;
    const isAtLineEnd = content[cut - 1] === 10;
    const longest = !keepsOpen && isAtLineEnd ? plan.settleMs * shortOfSettling : plan.settleMs * 3;
    return { name: `upload-${n}`, content, cut, stallMs: Math.floor(random() * longest), keepsOpen };
  });
  return { uploads, amounts };
}

/** Writes the uploads into the inbox, so many at a time; each stalls where it was planned to. */
export async function writeUploads(
  inbox: string,
  { uploads }: Planned,
  { parallel, onWritten }: { parallel: number; onWritten(done: number): void },
): Promise<void> {
  mkdirSync(inbox, { recursive: true });
  const left = uploads.values();
  let done = 0;
  const lanes = Array.from({ length: parallel }, async () => {
    for (const upload of left) {
      await write(join(inbox, `${upload.name}.csv`), upload);
      onWritten(++done);
    }
  });
  await Promise.all(lanes);
}

async function write(path: string, { content, cut, stallMs, keepsOpen }: Upload): Promise<void> {
  const [first, rest] = [content.subarray(0, cut), content.subarray(cut)];
  if (!keepsOpen) {
    writeFileSync(path, first);
    await sleep(stallMs);
    // Through a new descriptor, as a transfer that is resumed opens one; a file that was taken meanwhile comes up again.
    appendFileSync(path, rest);
    return;
  }
  const file = openSync(path, 'w');
  writeSync(file, first);
  await sleep(stallMs);
  writeSync(file, rest);
  closeSync(file);
}

export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
