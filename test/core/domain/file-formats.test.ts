import { expect, it } from 'vitest';
import {
  endingOf,
  foreignFormats,
  formatNames,
  formats,
  knownEnding,
  readEnding,
  readNames,
  textEnding,
  usualTypes,
} from '../../../src/core/domain/file-formats.ts';
import { batchName } from '../../../src/core/domain/ids.ts';
import { fileTypes } from '../../../src/faces/api/batch-operations.ts';
import { safeName } from '../../../src/faces/web/dashboard/files/receive-files.ts';
import { formatOf } from '../../../src/intake/format-of.ts';

const all = [...Object.values(formats), ...foreignFormats].flatMap(({ endings }) => endings);

it('no two formats have an ending in common, and each is written in lower case with its dot', () => {
  expect(new Set(all).size).toBe(all.length);
  expect(all.filter((ending) => !/^\.[a-z]+$/.test(ending))).toEqual([]);
});

it.each(formatNames)(
  'every door takes a file of the format %s, and names its batch without the ending',
  (name) => {
    const { endings, mediaTypes } = formats[name];
    for (const ending of endings) {
      expect(safeName(`November${ending.toUpperCase()}`)).toBe(`November${ending}`);
      expect(endingOf(`November${ending.toUpperCase()}`)).toBe(ending);
      expect(batchName(`November${ending}`)).toBe('november');
    }
    expect(fileTypes).toEqual(expect.arrayContaining([...mediaTypes]));
  },
);

it('a foreign format is known by its ending, and never read', () => {
  for (const ending of foreignFormats.flatMap(({ endings }) => endings)) {
    expect(knownEnding.test(`a${ending}`)).toBe(true);
    expect(readEnding.test(`a${ending}`)).toBe(false);
    expect(safeName(`a${ending}`)).toBe(null);
  }
});

it('keeps a file under the ending of its name, and one without an ending as CSV', () => {
  expect(['a.CSV', 'a.xlsx', 'a', 'a.txt'].map(endingOf)).toEqual(['.csv', '.xlsx', '.csv', '.csv']);
  expect(['a.csv', 'a.xlsx', 'csv', 'a.csvx'].map((name) => textEnding.test(name))).toEqual([
    ...[true, false, false, false],
  ]);
  expect(usualTypes).toEqual(['text/csv']);
});

it.each([
  ['PK\u0003\u0004 xl/workbook.xml', 'an Excel workbook (.xlsx)'],
  ['PK\u0003\u0004 [Content_Types].xml', 'an Excel workbook (.xlsx)'],
  ['PK\u0003\u0004 Index/Document.iwa', 'a Numbers spreadsheet'],
  ['PK\u0003\u0004', 'a spreadsheet workbook or a zip'],
  ['%PDF-1.7', 'a PDF document'],
])('tells a format by its first bytes, whatever the name: %j', (start, name) => {
  const problem = expect.stringContaining(`the file is ${name}, not ${readNames}`);
  expect(formatOf(Buffer.from(start, 'latin1'))).toMatchObject({ problem });
});

it('takes text that begins like no format for CSV', () => {
  expect(formatOf(Buffer.from('reference,amount\n'))).toBe('csv');
});
