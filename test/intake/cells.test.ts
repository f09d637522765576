import { expect, it } from 'vitest';
import { type CellPlace, replaceCells } from '../../src/intake/cells.ts';
import { csvRecords } from '../../src/intake/csv-records.ts';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function replaced(
  text: string,
  over: Record<string, string>,
  { size = 1 << 16, delimiter = ',' } = {},
): Promise<{ out: string; seen: Record<string, string> }> {
  const parts: Uint8Array[] = [];
  const seen: Record<string, string> = {};
  const key = ({ row, index }: CellPlace): string => `${row}.${index}`;
  await replaceCells(
    inPieces(Buffer.from(text), size),
    {
      delimiter,
      isWanted: (place) => key(place) in over,
      replace(place, was) {
        seen[key(place)] = was;
        return over[key(place)] ?? null;
      },
    },
    async (bytes) => void parts.push(bytes),
  );
  return { out: Buffer.concat(parts).toString(), seen };
}

const whole = '\ufeffa,b,c\r\n1,"two, ""x""",3\r\n\r\n"4\n4",5,\n6,ü7,8';

it.each([1, 2, 3, 7, 1000])('changes no byte but those of the cell, read in pieces of %s', async (size) => {
  const one = await replaced(whole, { '2.1': 'z', '4.0': 'n', '4.2': 'a,b', '5.2': '' }, { size });
  expect(one.out).toBe('\ufeffa,b,c\r\n1,"z",3\r\n\r\n"n",5,"a,b"\n6,ü7,');
  expect(one.seen).toEqual({ '2.1': 'two, "x"', '4.0': '4\n4', '4.2': '', '5.2': '8' });
});

it.each(['\n', '\r\n', '\r'])('keeps the line ends %j and the first cell after each', async (end) => {
  const lines = ['a;b', '1;2', '3;4', ''].join(end);
  const one = await replaced(lines, { '2.0': 'x', '3.0': 'y' }, { delimiter: ';', size: 1 });
  expect(one.out).toBe(['a;b', 'x;2', 'y;4', ''].join(end));
});

it('writes the same file where nothing changes', async () => {
  const same = { '2.1': 'two, "x"', '4.0': '4\n4' };
  expect((await replaced(whole, same)).out).toBe(whole);
});

it('counts rows and cells as the reader of batches does', async () => {
  const cells = ['', 'a', 'b c', ' ', 'ü', '"x"', '"y,""z"', '"\n"', '"\r\n,"', '""'];
  const ends = [',', ',', ',', '\n', '\r\n', '\r'];
  let seed = 7;
  const random = (n: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % n;
  };
  let compared = 0;
  for (let n = 0; n < 500; n++) {
    const text = Array.from(
      { length: 20 },
      () => cells[random(cells.length)] + (ends[random(ends.length)] ?? ''),
    ).join('');
    const parser = csvRecords({ delimiter: ',', maxRecordBytes: 1000 });
    const fault = (await parser.write(Buffer.from(text))) ?? (await parser.end());
    const records = parser.take();
    if (fault) continue;
    compared++;
    const expected = Object.fromEntries(
      records.flatMap((cells, row) => cells.map((cell, index) => [`${row + 1}.${index}`, cell])),
    );
    const all = Object.fromEntries(Object.keys(expected).map((key) => [key, '\u0000']));
    expect((await replaced(text, all)).seen, JSON.stringify(text)).toEqual(expected);
  }
  expect(compared).toBe(500);
});
