import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { zipSync } from 'fflate';
import { formatMinor } from '../../../src/core/domain/money.ts';
import { readEnv } from '../../../src/core/settings/dotenv.ts';
import { loadConfig } from '../../../src/core/settings/settings.ts';
import { readDecisions } from '../../../src/faces/terminal/decisions/decision-sheet.ts';
import { takeExpectations } from '../../../src/intake/collection-files.ts';
import type { FileItem } from '../../../src/intake/file-rows.ts';
import { checkedRows, type GoodRow } from '../../../src/intake/rows.ts';
import { csv, head, row, setting } from '../../intake/setting.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { Door } from './evolve.ts';

const words = [
  ',',
  ';',
  '\t',
  '"',
  '""',
  '\n',
  '\r\n',
  '1500.00',
  '0123456785',
  'NGN',
  'ZAR',
  'JPY',
  'reference',
  'amount',
];
const limits = { maxBytes: 1_000_000, maxRows: 1000 };

/** Files of payouts: the text and the rules of single rows. */
export async function openBatches(): Promise<Door> {
  const path = join(temporaryFolder(), 'batch.csv');
  const rules = { senderName: 'Acme', referencePrefix: '', today: '2026-11-27', payOn: '' };
  return {
    seeds: [
      csv(row('A-1'), row('A-2', '0.01')),
      csv('"A-3",0123456785,"Ada ""O""",058,1500.00,NGN,"two\nlines",Acme'),
      csv(row('A-1')).replaceAll(',', ';').replaceAll('\n', '\r\n'),
      `\ufeff${head},retry_of,Note\n${row('A-1')},,x\n\n`,
      'account_number,account_name,bank_code,amount,currency\n0123456785,Ada,58,"1,500.00",ngn\nTotal,,,1500,\n',
    ],
    words: [...words, ...head.split(','), 'pays_again', 'Total', '1.23E+09', 'Ada', '058'],
    async enter(input) {
      writeFileSync(path, input);
      const items: FileItem<GoodRow>[] = [];
      for await (const item of checkedRows(path, rules, limits)) items.push(item);
      if (items.some(({ kind }) => kind === 'broken')) return undefined;
      const header = items.find(({ kind }) => kind === 'header');
      if (header?.kind !== 'header' || items.at(-1)?.kind !== 'end') return 'neither an end nor a problem';
      const chunks = items.flatMap((item) => (item.kind === 'chunk' ? [item] : []));
      const [good, bad] = [chunks.flatMap((one) => one.good), chunks.flatMap((one) => one.bad)];
      if (bad.some(({ problems }) => problems.length === 0)) return 'a bad row without a problem';
      for (const { cells, parsed } of good) {
        const written = Number(formatMinor(parsed.amount, parsed.currency));
        if (!cells.some((text) => text.trim() !== '' && Math.abs(Number(text) / written - 1) < 1e-9))
          return `the amount ${parsed.amount} stands in no cell of ${JSON.stringify(cells)}`;
      }
      const all = recordsIn(input, header.header.delimiter);
      return all === good.length + bad.length ? undefined : `csv-parse reads ${all} rows`;
    },
  };
}

/** How many rows csv-parse sees below the header. */
function recordsIn(input: Buffer, delimiter: string): number {
  const options = { delimiter, bom: true, relax_column_count: true, record_delimiter: ['\r\n', '\n', '\r'] };
  const records: string[][] = parse(input, options);
  return records.slice(1).filter((cells) => cells.some((cell) => cell.trim() !== '')).length;
}

/** Files of expected collections, taken in on a ledger. */
export async function openCollections(): Promise<Door> {
  const { ledger, config, clock, drop, path } = await setting();
  const folders = { inbox: path('inbox', ''), archive: path('archive', ''), rejected: path('rejected', '') };
  const paths = { ...folders, reports: join(folders.archive, '..', 'reports') };
  let expected = 0n;
  return {
    seeds: [
      'reference,amount,currency\nINV-1,1500.00,NGN\nINV-2,3.5,ZAR\n',
      '\ufeffReference;Amount;Currency;Payer\r\nINV-3;"1500";NGN;"Ada ""O"""\r\n',
    ],
    words: [...words, 'currency', 'INV-'],
    async enter(input) {
      const taken = await takeExpectations({ ledger, config, clock, paths }, drop('collections.csv', input));
      for (const folder of Object.values(folders))
        for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      const { n } = await ledger.db
        .selectFrom('collections')
        .select((on) => on.fn.countAll<bigint>().as('n'))
        .executeTakeFirstOrThrow();
      const more = BigInt(n) - expected;
      expected += more;
      if (taken.kind === 'refused') {
        if (taken.problems.length === 0) return 'refused without a word';
        return more === 0n ? undefined : 'kept a part of a refused file';
      }
      return BigInt(taken.rows) === more && more > 0n ? undefined : `${taken.rows} rows, ${more} kept`;
    },
  };
}

/** The file of settings. */
export async function openYaml(): Promise<Door> {
  const home = temporaryFolder();
  const path = join(home, 'config', 'counterfoil.yaml');
  mkdirSync(join(home, 'config'));
  return {
    seeds: [
      'service: { base_url: "http://127.0.0.1:1" }\n',
      'mode: test\nservice:\n  base_url: https://u:p@example.com/x # why\nsubmission:\n  payout_limit: { NGN: "5000000.00" }\n  approval: above\n  approval_above: {NGN: 5}\nschedules:\n  submit: "*/5 * * * *"\n',
      'service: &s\n  base_url: *s\nledger: { url: "postgres://a:b@c/d" }\n? [a, b]\n: |\n  text\n',
      'receiver: {host: 0.0.0.0, trust_proxy: [10.0.0.0/8], port: 99999}\nadmin: {roles: {ada: [approve]}}\nreports: {timezone: Mars}\n',
    ],
    words: [
      ...[
        'service:',
        'base_url:',
        'submission:',
        'intake:',
        'receiver:',
        'admin:',
        'reports:',
        'alerts:',
        'queue:',
      ],
      ...[
        '&a ',
        '*a',
        '!!binary ',
        '!!int ',
        '<<: ',
        '? ',
        '- ',
        '|\n',
        '>-\n',
        '---\n',
        '...\n',
        '%YAML 1.1\n',
        '.inf',
      ],
      ...[
        'http://',
        'postgres://',
        'redis://',
        '2026-11-21',
        '0x1F',
        'mode: live\n',
        'on_invalid_row: skip_row\n',
      ],
    ],
    enter(input) {
      writeFileSync(path, input);
      const loaded = loadConfig({ cwd: home, env: {} });
      if (loaded.kind === 'ok') return loaded.config.service.baseUrl === '' ? 'no address' : undefined;
      return loaded.problems.every((problem) => problem.length > 5) && loaded.problems.length > 0
        ? undefined
        : 'refused without a sentence';
    },
  };
}

const plainLine = /^[A-Z_]+=[\w./-]+$/;

/** The file of secrets, and the values in it. */
export async function openDotenv(): Promise<Door> {
  return {
    seeds: [
      'COUNTERFOIL_TEST_SECRET_KEY=sk_test_1\n# why\nCOUNTERFOIL_MODE=test\n',
      '\ufeffexport A="two\nlines" # why\r\nB=\'x\'\nC=`y`\n  D = 1 \n',
      'A=\nB\n=C\nA="torn\nB="x"\n',
    ],
    words: ['export ', 'COUNTERFOIL_', '="', "='", '=`', ' #', 'A=b\n', '\n\n', '\\n', '$A'],
    enter(input) {
      const text = input.toString('utf8');
      const { values, unreadable } = readEnv(text);
      const lines = text.split('\n');
      if (unreadable.some((at) => at < 1 || at > text.split(/\r\n?|\n/).length))
        return 'a line that is not there';
      if (!lines.every((line) => line === '' || plainLine.test(line))) return undefined;
      if (unreadable.length > 0) return 'does not read a plain line';
      const plain = lines.filter((line) => line !== '').map((line) => line.split(/=(.*)/));
      const lost = plain.findLast(([name = '']) => values[name] === undefined);
      return lost === undefined ? undefined : `lost ${lost[0]}`;
    },
  };
}

const cell = (place: string, text: string): string =>
  `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
const header = ['discrepancy_id', 'expected', 'actual', 'state', 'decision', 'note'];
const sheetOf = (rows: string[][]): string =>
  `<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows
    .map(
      (cells, r) =>
        `<row r="${r + 1}">${cells.map((text, c) => cell(`${'ABCDEF'[c]}${r + 1}`, text)).join('')}</row>`,
    )
    .join('')}</sheetData></worksheet>`;
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A workbook with this text as its only sheet, packed without compression so that its bytes can be changed. */
function workbookOf(sheet: Uint8Array): Uint8Array {
  const text = (xml: string): Uint8Array => Buffer.from(`<?xml version="1.0"?>${xml}`);
  const package_ = 'http://schemas.openxmlformats.org/package/2006/relationships';
  return zipSync(
    {
      '_rels/.rels': text(
        `<Relationships xmlns="${package_}"><Relationship Id="r1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
      ),
      'xl/workbook.xml': text(
        `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${relations}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>`,
      ),
      'xl/_rels/workbook.xml.rels': text(
        `<Relationships xmlns="${package_}"><Relationship Id="r1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      ),
      'xl/worksheets/sheet1.xml': sheet,
    },
    { level: 0, mtime: '2026-11-21' },
  );
}

/** Decisions in a workbook: the bytes of one, or the text of its sheet. */
export async function openWorkbooks(): Promise<Door> {
  const path = join(temporaryFolder(), 'decisions.xlsx');
  const sheet = sheetOf([
    header,
    ['d-1', '1500.00', '', 'open', 'ack', 'seen'],
    ['d-2', '', '', '', 'resolve', ''],
  ]);
  return {
    seeds: [
      sheet,
      sheet.replace('<is><t>1500.00</t></is>', '<v>1500</v>').replace('t="inlineStr"', 't="n"'),
      Buffer.from(workbookOf(Buffer.from(sheet))),
    ],
    words: [
      ...[
        '<row r="9">',
        '</row>',
        '<c r="A3" t="b"><v>1</v></c>',
        ' t="d"',
        ' t="s"',
        ' t="e"',
        '<v>',
        '</v>',
        ' s="1"',
      ],
      ...[
        '<dimension ref="A1:F9"/>',
        'r="XFD1048576"',
        '&amp;',
        '&#0;',
        '<!DOCTYPE a [<!ENTITY b "c">]>',
        '&b;',
        '<![CDATA[',
      ],
      ...['PK\u0001\u0002', 'AAAAAAAAAF2', 'A1e9', 'PK\u0005\u0006', 'decision', 'resolve', 'ack'],
    ],
    async enter(input) {
      writeFileSync(path, input.toString('latin1', 0, 2) === 'PK' ? input : workbookOf(input));
      chmodSync(path, 0o600);
      const { asked, problems } = await readDecisions(path);
      if (problems.some(({ problem, fix }) => problem === '' || fix === ''))
        return 'a problem without a sentence';
      return asked.every(({ verdict, row: at }) => verdict !== undefined && at > 1)
        ? undefined
        : 'a decision of no row';
    },
  };
}
