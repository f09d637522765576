import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { csv, head, row, type Setting, setting } from '../intake/setting.ts';

/** A file to drop; `%` stands for what makes the references of a run its own. */
export type HostileFile = { content: Buffer; control: string | null };

const nasty = fc.constantFrom(
  '',
  ' ',
  '"',
  '""',
  '","',
  '\u202e',
  '\u200b',
  '\0',
  '\r',
  '\n',
  '\ufeff',
  '=cmd|x!A1',
  '-1',
  '1e9',
  '1.23E+09',
  '1,000.50',
  '1.000,50',
  '999999999999999.99',
  '9'.repeat(40),
  '0.005',
  'NaN',
  '__proto__',
  'constructor',
  '../../x',
  'x'.repeat(3000),
  '\ud83d\ude00',
  '٣',
  'USD',
  'JPY',
  'ZAR',
  'EFT',
  ';',
  '\t',
);
const cell = fc.oneof(
  { weight: 3, arbitrary: nasty },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
);
const plainRow = fc
  .tuple(fc.nat(9), fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 10 ** 9, max: 10 ** 10 - 1 }))
  .map(([n, minor, account]) => row(`F%-${n}`, (minor / 100).toFixed(2), String(account)));
const oddRow = fc.tuple(plainRow, fc.nat(9), cell, fc.boolean()).map(([line, at, value, quoted]) =>
  line
    .split(',')
    .toSpliced(at, 1, quoted ? `"${value.replaceAll('"', '""')}"` : value)
    .join(','),
);
const lines = fc.array(fc.oneof({ weight: 4, arbitrary: plainRow }, { weight: 1, arbitrary: oddRow }), {
  maxLength: 8,
});
const oddHead = fc
  .tuple(fc.nat(9), cell)
  .map(([at, value]) => head.split(',').toSpliced(at, 1, value).join(','));
const heads = fc.oneof(
  { weight: 8, arbitrary: fc.constant(head) },
  { weight: 1, arbitrary: fc.constant(`${head},type,Extra`) },
  { weight: 1, arbitrary: oddHead },
);
const text = fc
  .tuple(heads, lines, fc.constantFrom('\n', '\r\n', '\r', '\n\n'), fc.constantFrom(',', ';', '\t'))
  .map(([first, rest, end, delimiter]) =>
    Buffer.from([first, ...rest].join(end).replaceAll(',', delimiter) + end),
  );
const mutated = fc
  .tuple(
    fc.array(plainRow, { minLength: 1, maxLength: 6 }).map((rest) => Buffer.from(csv(...rest))),
    fc.array(fc.tuple(fc.nat(), fc.nat(4), fc.nat(255)), { minLength: 1, maxLength: 4 }),
  )
  .map(([bytes, changes]) => changes.reduce(changed, bytes));
/** A quote that opens in one row and closes in a later one: the rows between must never be paid as a part of the first. */
const merged = fc
  .tuple(
    fc.array(plainRow, { minLength: 2, maxLength: 6 }),
    fc.nat(),
    fc.nat(),
    fc.constantFrom('narration', 'sender_name', 'Note'),
    fc.boolean(),
  )
  .map(([rest, first, more, column, extra]) => {
    const from = first % (rest.length - 1);
    const to = from + 1 + (more % (rest.length - 1 - from));
    const at = column === 'narration' ? 6 : column === 'sender_name' ? 7 : 8;
    const all = rest.map((line, i) => {
      const cells = `${line}${at === 8 || extra ? ',n' : ''}`.split(',');
      const cell = cells[at] ?? '';
      if (i === from) return [...cells.slice(0, at), `"${cell}`].join(',');
      return i === to
        ? [...cells.slice(0, at), `${cell}"`, ...cells.slice(at + 1)].join(',')
        : cells.join(',');
    });
    return Buffer.from(`${[at === 8 || extra ? `${head},Note` : head, ...all].join('\n')}\n`);
  });
/** What programs leave around a good file, and files of very many or very long cells. */
const wrapped = fc
  .tuple(
    fc.array(plainRow, { minLength: 1, maxLength: 4 }).map((rest) => csv(...rest)),
    fc.constantFrom('\ufeff\ufeff', '\n', '\x1f\x8b', 'BZh9', '\ufeff', 'sep=,\n', ''),
    fc.constantFrom(
      '\x1a',
      '\x1a\n',
      '',
      '\n\n',
      ' ',
      `${','.repeat(200_000)}\n`,
      `""${',""'.repeat(60_000)}\n`,
    ),
    fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.trimEnd(),
      (text) => text.replaceAll(',', '|'),
      (text) => text.replace('Salary', '"Salary" '),
      (text) => text.replace('Salary', '\u2764\ufe0f'),
      (text) => text.replaceAll('\n', `${','.repeat(1100)}x\n`),
    ),
  )
  .map(([body, before, after, change]) => Buffer.from(before + change(body) + after));
const noise = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes));
const wide = text.map((bytes) => Buffer.from(bytes.toString('utf8'), 'utf16le'));
const controls = fc.oneof(
  { weight: 8, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.nat(8).map((rows) => JSON.stringify({ rows })) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
);

/** Batches as nobody should drop them: hostile cells, changed bytes, noise, and some that are good. */
const files: fc.Arbitrary<HostileFile> = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: text },
      { weight: 4, arbitrary: mutated },
      { weight: 2, arbitrary: merged },
      { weight: 2, arbitrary: wrapped },
      { weight: 1, arbitrary: noise },
      { weight: 1, arbitrary: wide },
    ),
    controls,
  )
  .map(([content, control]) => ({ content, control }));

function changed(bytes: Buffer, [place, how, byte]: [number, number, number]): Buffer {
  const at = bytes.length === 0 ? 0 : place % bytes.length;
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  if (how === 0) return Buffer.from(before);
  if (how === 1) return Buffer.concat([before, after.subarray(1)]);
  if (how === 2) return Buffer.concat([before, Buffer.from([byte]), after]);
  if (how === 3) return Buffer.concat([before, after, after]);
  return Buffer.concat([before, Buffer.from([byte]), after.subarray(1)]);
}

export type Verdict = { runs: number; taken: number; skipped: number; refused: number; problems: string[] };

/** Runs that share a ledger: its checks see what the runs before left. */
const runsPerLedger = 500;

/**
 * Drops `runs` files that the seed alone decides, every other one where bad rows are skipped. A problem is any crash, a
 * refusal without a sentence, what `check` and intake tell differently, and a payout that no rule would let through.
 */
export async function dropFiles({ runs, seed }: { runs: number; seed: number }): Promise<Verdict> {
  const verdict: Verdict = { runs: 0, taken: 0, skipped: 0, refused: 0, problems: [] };
  const all = fc.sample(files, { numRuns: runs, seed });
  let places: Setting[] = [];
  for (const [at, file] of all.entries()) {
    if (at % runsPerLedger === 0) {
      await Promise.all(places.map(({ ledger }) => ledger.close()));
      const limits = 'submission: { duplicate_window_days: 0 }\n';
      places = [await setting(limits), await setting(`${limits}intake: { on_invalid_row: skip_row }`)];
    }
    const place = places[at % 2];
    if (!place) break;
    verdict.runs += 1;
    try {
      await drop(place, { ...file, run: at }, verdict);
    } catch (error) {
      const told = error instanceof Error ? error.stack : String(error);
      verdict.problems.push(`seed ${seed}, file ${at}: ${told}`);
    }
  }
  await Promise.all(places.map(({ ledger }) => ledger.close()));
  return verdict;
}

async function drop(s: Setting, file: HostileFile & { run: number }, verdict: Verdict): Promise<void> {
  const own = String(file.run);
  const content = Buffer.from(file.content.toString('latin1').replaceAll('F%', `F${own}`), 'latin1');
  const path = s.drop(`${own}.csv`, content);
  if (file.control !== null) s.drop(`${own}.csv.control.json`, file.control);
  const must = (holds: boolean, what: string): void => {
    if (!holds) verdict.problems.push(`file ${own}: ${what}: ${JSON.stringify(content.toString('latin1'))}`);
  };
  const checked = await s.intake.check(path);
  const before = await sumOf(s);
  const taken = await s.intake.takeIn(path, { origin: 'inbox' });
  const after = await sumOf(s);
  must(!existsSync(path), 'left in the inbox');
  if (taken.kind === 'taken') {
    verdict.taken += 1;
    verdict.skipped += taken.skipped ? 1 : 0;
    must(checked.ok, 'taken what check refuses');
    must(checked.skipped === (taken.skipped?.rows ?? 0), 'check and intake leave other rows out');
    must(same(taken.totals, checked.totals), 'check and intake differ in totals');
    must(taken.rows === checked.rows - checked.skipped, 'rows differ');
    must(after.rows - before.rows === BigInt(taken.rows), 'the ledger holds other rows');
    await judgePayouts(s, taken.batch, must);
  } else if (taken.kind === 'refused') {
    verdict.refused += 1;
    must(!checked.ok, 'refused what check accepts');
    must(after.rows === before.rows, 'recorded a part of a refused file');
    must(taken.problems.length > 0, 'refused without a word');
    must(same(taken.problems, checked.problems), 'check and intake tell different problems');
    for (const { row: at, problem, fix } of taken.problems)
      must(at >= 0 && problem.length > 5 && fix.length > 5, 'a problem without a sentence');
  }
}

async function sumOf(s: Setting): Promise<{ rows: bigint }> {
  const found = await s.ledger.db
    .selectFrom('payouts')
    .select((on) => on.fn.countAll<bigint>().as('rows'))
    .executeTakeFirstOrThrow();
  return { rows: BigInt(found.rows) };
}

async function judgePayouts(
  s: Setting,
  batch: string,
  must: (holds: boolean, what: string) => void,
): Promise<void> {
  const payouts = await s.ledger.db.selectFrom('payouts').selectAll().where('batch_id', '=', batch).execute();
  for (const one of payouts) {
    must(/^[A-Za-z0-9][\w-]{0,49}$/.test(one.reference), `reference ${one.reference}`);
    must(/^\d{5,20}$/.test(one.account_number), `account ${one.account_number}`);
    must(/^[A-Za-z0-9]{3,11}$/.test(one.bank_code), `bank ${one.bank_code}`);
    must(one.amount > 0n && /^[A-Z]{3}$/.test(one.currency), `amount ${one.amount} ${one.currency}`);
    const said = one.account_name + one.sender_name + one.narration.replaceAll('\n', '');
    must(!/[\p{Cc}\p{Cf}]/u.test(said), 'a hidden character');
    must(!/F\d+-\d,\d{10},/.test(said), 'a row inside another');
    must(
      [one.account_name, one.sender_name, one.narration].every((told) => told.trim() !== ''),
      'empty',
    );
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
