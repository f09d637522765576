import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as submitJob from '../../jobs/submit.ts';
import { openApp } from '../../src/app/app.ts';
import type { BatchFile } from '../simulation/batch-files.ts';
import { amountOf } from '../simulation/brake-weather.ts';
import type { Life } from '../simulation/life.ts';
import type { Stage } from './stage.ts';

/** A row that differs from the ordinary one of its place. */
type Row = {
  reference?: string;
  minor?: number;
  account?: string;
  retryOf?: string;
  evidence?: string;
  payOn?: string;
  invoice?: string;
  /** It pays another account than the file before it. */
  changed?: boolean;
};

/** What a batch above the limit of approvals pays with one row; above the limit of one payout; above a day's. */
export const large = { approval: 600_000, payout: 2_100_000, day: 5_100_000 } as const;
export const limits = { approvalAbove: 1_000_000, payoutLimit: 2_000_000, dailyLimit: 5_000_000 } as const;

/** What row `i` of file `number` pays, and to whom. */
export const accountOf = (number: number, i: number): string => String(1_000_000_000 + number * 10_000 + i);

/** Of each payee of a move's file, the account that it changes to. */
export const otherAccountOf = (number: number, i: number): string => accountOf(number, 50 + i);

/** Whose an account is: somebody else's in each move's file. The office's own batches pay one person. */
export function nameOf(account: string): string {
  const [number, i] = [Math.floor(Number(account.slice(1)) / 10_000), Number(account.slice(-4)) % 50];
  return number < 3 ? 'Adaeze Okonkwo' : `Payee ${number} Row ${i}`;
}

/** Writes the file that comes into play as `number`. A row that pays a payout again is no row of the judge's list. */
function writeFile(
  { root }: Pick<Stage, 'root'>,
  number: number,
  given: readonly Row[],
): BatchFile & { all: string[] } {
  const name = `batch${number}.csv`;
  const path = join(root, name);
  const rows = given.map((row, i) => ({
    reference: row.reference ?? `B${number}-${i + 1}`,
    minor: row.minor ?? amountOf(number, i),
    account: row.account ?? accountOf(number, i),
    retryOf: row.retryOf ?? '',
    evidence: row.evidence ?? '',
    payOn: row.payOn ?? '',
    changed: row.changed ?? false,
    invoice: row.invoice ?? '',
  }));
  const repeats = rows.some(({ retryOf }) => retryOf !== '');
  const dated = rows.some(({ payOn }) => payOn !== '');
  const invoiced = rows.some(({ invoice }) => invoice !== '');
  const more = [
    ...(repeats ? ['retry_of', 'retry_evidence'] : []),
    ...(dated ? ['pay_on'] : []),
    ...(invoiced ? ['invoice'] : []),
  ];
  const header = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';
  const lines = rows.map(({ reference, account, minor, retryOf, evidence, payOn, invoice }) => {
    const own = `${reference},${account},${nameOf(account)},000013,${(minor / 100).toFixed(2)},NGN,Salary,Acme Ltd`;
    return [
      own,
      ...(repeats ? [retryOf, evidence] : []),
      ...(dated ? [payOn] : []),
      ...(invoiced ? [invoice] : []),
    ].join(',');
  });
  const text = `${[[header, ...more].join(','), ...lines].join('\n')}\n`;
  writeFileSync(path, text);
  const seen = new Set<string>();
  const twins = rows.some(({ account }) => seen.size === seen.add(account).size);
  return {
    ...{ name, path, text, twins, bad: [], coming: 'named' },
    rows: rows
      .filter(({ retryOf }) => retryOf === '')
      .map(({ reference, minor, payOn, changed }) => ({ reference, minor, payOn, changed })),
    all: rows.map(({ reference }) => reference),
  };
}

/** `submit FILE` by a person; `sends` false: with `--no-wait`. `begun` may strike the process. */
export function submit(
  stage: Stage,
  file: BatchFile,
  { sends = true, begun }: { sends?: boolean; begun?: (life: Life) => void } = {},
): void {
  const { town } = stage;
  if (town.fall.shut || isLoaded(stage, file)) return;
  const { life, options } = town.begin('submit');
  begun?.(life);
  const work = async (): Promise<void> => {
    const app = await openApp('whole', { ...options, kind: 'submit' });
    await app.intake.takeFiles([file.path], { origin: 'named' });
    if (sends) await submitJob.run(app);
    await app.close();
    life.kill('done');
  };
  work().catch((error: unknown) => town.failed(life, 'submit', error));
}

export function isLoaded({ town }: Pick<Stage, 'town'>, file: BatchFile): boolean {
  return town.inspector
    .batches()
    .some(({ file_name, phase }) => file_name === file.name && phase === 'loaded');
}

/** A file that somebody is about to bring in: its batch is judged from now on. */
export function promise(
  stage: Stage,
  rows: readonly Row[],
  number = 40 + stage.files.length,
): BatchFile & { all: string[] } {
  const file = writeFile(stage, number, rows);
  stage.files.push(file);
  stage.town.brakes.expect([file]);
  return file;
}

/** Brings a file in as an office does. */
export function bring(
  stage: Stage,
  number: number,
  rows: readonly Row[],
  how: Parameters<typeof submit>[2] = {},
): BatchFile & { all: string[] } {
  const file = promise(stage, rows, number);
  submit(stage, file, how);
  return file;
}
