import { crc32, deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import writeExcelFile from 'write-excel-file/node';
import {
  tooLargeToFillIn,
  troubleIn,
  workbookLimits,
} from '../../../src/faces/terminal/discrepancies/workbook-guard.ts';

/** A zip archive of these parts, as small as they deflate; `claims` is what the directory says of every size. */
function zip(parts: Record<string, Buffer | string>, claims?: number): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claims ?? plain.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const body = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), fields, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const start = Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1');
    directory.push(Buffer.concat([start, fields, rest, Buffer.from(name)]));
    bodies.push(body);
    offset += body.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listed, end]);
}

const workbook = { 'xl/workbook.xml': '<workbook/>' };
const sheet = (cells: string) => ({
  ...workbook,
  'xl/worksheets/sheet1.xml': `<sheetData>${cells}</sheetData>`,
});

it('a workbook as it is written passes', async () => {
  const rows = Array.from({ length: 300 }, (_, n) => [`D-${n}`, 'note with "r=" in it', n]);
  expect(troubleIn(await writeExcelFile(rows).toBuffer())).toBeNull();
  expect(troubleIn(zip(sheet('<row r="1"><c r="A1"/></row>')))).toBeNull();
});

it('a bomb is refused by what it unpacks to, whatever its directory claims', () => {
  const zeros = Buffer.alloc(5_000_000, 'a');
  const limits = { ...workbookLimits, unpacked: 1_000_000 };
  const bomb = zip({ ...workbook, 'xl/sharedStrings.xml': zeros }, 10);
  expect(bomb.length).toBeLessThan(20_000);
  expect(troubleIn(bomb, limits)).toMatch(/^unpacked it is larger than/);
});

it('one cell far away would make a million rows: it is refused, however it is spelled', () => {
  expect(troubleIn(zip(sheet('<row><c r="A1048576"/></row>')))).toBe('it reaches beyond row 100001');
  expect(troubleIn(zip(sheet('<row><c t=">" r = \'XFD1\'/></row>')))).toBe('it reaches beyond column 256');
  expect(troubleIn(zip(sheet('<row r="9999999"/>')))).toBe('it reaches beyond row 100001');
  for (const place of ['AAAAAAAAA2', 'éé2', 'aaa2'])
    expect(troubleIn(zip(sheet(`<row><c r="${place}"/></row>`)))).toBe('it reaches beyond column 256');
  for (const place of ['A1e9', 'A9999999999', 'A0x5F5E100'])
    expect(troubleIn(zip(sheet(`<row><c r="${place}"/></row>`)))).toBe('it reaches beyond row 100001');
  expect(troubleIn(zip(sheet('<row><c r="&#65;1048576"/></row>')))).toBe('it is damaged, or no workbook');
});

it('other archives, other encodings and too many parts are refused', () => {
  expect(troubleIn(zip({ 'letter.txt': 'hello' }))).toBe('it is a zip archive, but no workbook');
  expect(troubleIn(zip({ 'xl/workbook.xml': Buffer.from('<workbook/>', 'utf16le') }))).toBe(
    'its text is not UTF-8',
  );
  expect(troubleIn(zip(workbook), { ...workbookLimits, entries: 0 })).toBe('it has more than 0 parts');
  expect(troubleIn(Buffer.from(''))).toBe('it is no workbook');
});

it('a damaged archive is refused wherever it is cut or changed, and never throws', () => {
  const whole = zip(sheet('<row r="1"><c r="A1"/></row>'));
  for (let at = 0; at < whole.length; at++) {
    expect(() => troubleIn(whole.subarray(0, at))).not.toThrow();
    const changed = Buffer.from(whole);
    changed[at] = 0xff;
    expect(() => troubleIn(changed)).not.toThrow();
  }
});

it('what is written leaves room for what people fill in', () => {
  const limits = { ...workbookLimits, unpacked: 1_000_000, bytes: 1_000_000 };
  const letters = (n: number) => zip({ ...workbook, 'xl/sharedStrings.xml': 'a'.repeat(n) });
  expect([troubleIn(letters(900_000), limits), tooLargeToFillIn(letters(900_000), limits)]).toEqual([
    null,
    'unpacked it is larger than 1 MiB',
  ]);
  expect(tooLargeToFillIn(letters(700_000), limits)).toBeNull();
  expect(tooLargeToFillIn(letters(700_000), { ...limits, bytes: 1000 })).toBe('it is larger than 0 MiB');
});
