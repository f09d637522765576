import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, it } from 'vitest';
import { zoned } from '../../../src/books/presentation.ts';
import { safeCell, unsplitCell } from '../../../src/core/domain/csv-cell.ts';
import { csvText } from '../../../src/faces/files/csv-writer.ts';

const cell = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    '0123456789',
    'x,y',
    'x;y',
    'say "hi"',
    'two\r\nlines',
    '\r',
    'a\u2028b',
    '=1+1',
    'a\t=b',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const delimiters = [',', ';', '\t'];

it('writes every row as the library alone would, whichever cells need quotes', () => {
  const table = fc.integer({ min: 1, max: 4 }).chain((width) => {
    return fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 });
  });
  fc.assert(
    fc.property(table, fc.constantFrom(...delimiters), (rows, delimiter) => {
      const safe = rows.map((cells) => cells.map((text) => unsplitCell(safeCell(text), delimiter)));
      const header = safe[0]?.map(() => 'text') ?? [];
      const options = { delimiter, record_delimiter: '\r\n', quoted_match: /[\r\n\u2028\u2029]/ };
      const text = csvText({ bom: false, delimiter });
      const written = text([header, ...rows.slice(0, 5)]) + text(rows.slice(5));
      expect(written).toBe(stringify([header, ...safe], options));
      const read: string[][] = parse(written, { delimiter, record_delimiter: '\r\n' });
      expect(read).toEqual([header, ...safe]);
    }),
    { numRuns: 500 },
  );
});

it('shows every instant as its time zone has it, whatever was shown before', () => {
  const zones = [
    'Africa/Lagos',
    'Europe/London',
    'Australia/Lord_Howe',
    'America/St_Johns',
    'Asia/Kathmandu',
    'UTC',
  ];
  const near = [
    '2026-03-29T01:00:00Z',
    '2026-10-25T01:00:00Z',
    '2026-04-04T15:00:00Z',
    '2026-10-03T15:30:00Z',
  ];
  const instant = fc.oneof(
    fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc
      .tuple(fc.constantFrom(...near), fc.integer({ min: -120_000, max: 120_000 }))
      .map(([at, ms]) => new Date(Date.parse(at) + ms)),
  );
  fc.assert(
    fc.property(instant, fc.constantFrom(...zones), (date, zone) => {
      const text = date.toISOString();
      expect(zoned(text, zone)).toBe(DateTime.fromISO(text, { zone: 'utc' }).setZone(zone).toISO());
    }),
    { numRuns: 3_000 },
  );
  expect(zoned(null, 'UTC')).toBe('');
  expect(zoned('no instant', 'UTC')).toBe('no instant');
});
