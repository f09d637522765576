import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvRecords } from '../../src/intake/csv-records.ts';

const limit = 1024;

async function recordsOf(
  pieces: readonly string[],
  delimiter = ',',
): Promise<{ records: string[][]; fault: string | null }> {
  const csv = csvRecords({ delimiter, maxRecordBytes: limit });
  const records: string[][] = [];
  let fault: string | null = null;
  for (const piece of pieces) {
    fault ??= (await csv.write(Buffer.from(piece)))?.code ?? null;
    records.push(...csv.take());
  }
  fault ??= (await csv.end())?.code ?? null;
  return { records: [...records, ...csv.take()], fault };
}

/** What csv-parse makes of the whole text at once. */
function parsed(text: string, delimiter: string): { records: string[][]; fault: string | null } {
  const records: string[][] = [];
  const take = (record: string[]): null => {
    records.push(record);
    return null;
  };
  const options = { delimiter, relax_column_count: true, max_record_size: limit, bom: true };
  try {
    parse(text, { ...options, record_delimiter: ['\r\n', '\n', '\r'], on_record: take });
    return { records, fault: null };
  } catch (error) {
    return { records, fault: error instanceof Error && 'code' in error ? String(error.code) : 'none' };
  }
}

const plain = fc.constantFrom(
  'a',
  'bc',
  '',
  ' ',
  'é',
  '李',
  '1.00',
  '\ufeff',
  ',',
  ',',
  ';',
  '\t',
  '\n',
  '\r\n',
);
const odd = fc.constantFrom('"', '\r', '"q"', '"a,b\nc"', '""', 'y'.repeat(600), 'z'.repeat(1200));

it('splits plain lines as csv-parse does, wherever the pieces of the file end', async () => {
  const pieces = fc.array(
    fc.array(plain, { maxLength: 12 }).map((parts) => parts.join('')),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(',', ';', '\t'), async (texts, delimiter) => {
      expect(await recordsOf(texts, delimiter)).toEqual(parsed(texts.join(''), delimiter));
    }),
    { numRuns: 1000 },
  );
});

it('leaves quotes, lone carriage returns and long lines to csv-parse, and all that follows them', async () => {
  const part = fc.oneof({ arbitrary: plain, weight: 5 }, { arbitrary: odd, weight: 1 });
  const pieces = fc.array(
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(pieces, async (texts) => {
      expect(await recordsOf(texts)).toEqual(parsed(texts.join(''), ','));
    }),
    { numRuns: 1000 },
  );
});

it('takes a line break that two pieces share for one', async () => {
  expect(await recordsOf(['a,b\r', '\nc,d\r', '\n'])).toEqual({
    records: [
      ['a', 'b'],
      ['c', 'd'],
    ],
    fault: null,
  });
});

it('tells the records before a fault', async () => {
  expect(await recordsOf(['a,b\nc,d\n', 'e"f,g\n'])).toEqual({
    records: [
      ['a', 'b'],
      ['c', 'd'],
    ],
    fault: 'INVALID_OPENING_QUOTE',
  });
});

it('counts delimiters and quotes in the limit of a record, wherever the pieces end', async () => {
  const quoted = (cells: number): string => Array.from({ length: cells }, () => '""').join(',');
  for (const long of [`"a"${','.repeat(1200)}`, quoted(400), `"${','.repeat(1200)}"`])
    for (const size of [7, 100, 5000]) {
      const text = `a,b\n"c",d\n${long}\ne,f\n`;
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const { records, fault } = await recordsOf(pieces);
      expect([records, fault]).toEqual([
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
        'CSV_MAX_RECORD_SIZE',
      ]);
    }
  expect(await recordsOf([`a,b\n"c",${quoted(330)}\n`])).toMatchObject({ fault: null });
});
