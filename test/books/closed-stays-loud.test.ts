import { expect, it, onTestFinished } from 'vitest';
import type { StagedTransfer } from '../../src/core/domain/listed-transfer.ts';
import { checkPeriods } from '../../src/custody/verify-periods.ts';
import { addSent, december, november, reportingOf } from '../custody/archive-world.ts';
import { born, makeLedger, type TestLedger } from '../support/ledger.ts';
import { listedTransfer, type Night, nightOf } from './discrepancies/setting.ts';

const references = ['A-1', 'A-2', 'A-3'] as const;
/** Days after the ledger's birth in November, in milliseconds. */
const onDay = (day: string): number => Date.parse(day) - Date.parse(born);
const second = (extra: Partial<StagedTransfer> = {}): StagedTransfer =>
  listedTransfer('A-1', { id: 'T-again', ...extra });

/** What the list shows in the end; A-1 is the one in question. Each is listed as ordered before. */
const faults: Record<string, (a1: StagedTransfer) => StagedTransfer[]> = {
  'nothing is wrong': (a1) => [a1],
  'a paid transfer fails': (a1) => [{ ...a1, status: 'failed' }],
  'a paid transfer vanishes': () => [],
  'a paid transfer changes its amount': (a1) => [{ ...a1, amount: '1400.00' }],
  'a paid transfer changes its currency': (a1) => [{ ...a1, currency: 'ZAR' }],
  'a paid transfer has another account': (a1) => [{ ...a1, account_number: '0000000001' }],
  'a paid transfer comes back': (a1) => [{ ...a1, status: 'reversed' }],
  'a fee changes': (a1) => [{ ...a1, fee: '99.99' }],
  'it is listed twice': (a1) => [a1, second()],
  'it is listed twice, and once failed': (a1) => [a1, second({ status: 'failed' })],
  'a stranger’s transfer appears': (a1) => [
    a1,
    listedTransfer('NOBODY', { id: 'T-nobody', created_at: november(22) }),
  ],
};
type Story =
  | 'no close'
  | 'close, then the fault'
  | 'the fault, then close'
  | 'two closes'
  | 'fault, two closes';
const stories: Story[] = [
  'no close',
  'close, then the fault',
  'the fault, then close',
  'two closes',
  'fault, two closes',
];

/** One payout of each, all paid; `never`: A-1 is accepted and never listed. */
async function sent(ledger: TestLedger, never: boolean): Promise<StagedTransfer[]> {
  const ids = await addSent(
    ledger,
    'a',
    22,
    never ? ['pending', 'success', 'success'] : ['success', 'success', 'success'],
  );
  return references.map((reference, n) =>
    listedTransfer(reference, {
      id: `T-${ids[n]}`,
      fee: '10.75',
      created_at: november(22, 500),
      updated_at: november(22, 3000),
    }),
  );
}

async function told(story: Story, fault: string) {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const never = fault === 'an accepted one is never listed';
  const [a1, ...others] = await sent(ledger, never);
  if (!a1) throw new Error('no payout');
  const well = never ? others : [a1, ...others];
  const wrong = never ? others : [...(faults[fault]?.(a1) ?? []), ...others];
  const reporting = reportingOf(ledger, ledger.folder);
  const night = async (day: string, rows: StagedTransfer[]) => {
    const details: Night['details'] = rows.some(({ reference }) => reference === 'A-1')
      ? 'no_answer'
      : undefined;
    const { summary, kinds } = await nightOf(ledger, {
      at: onDay(day),
      rows,
      full: true,
      ...(details && { details }),
    });
    const { verdict, currencies } = await reporting.freezeRun(summary.run, day);
    const each = Object.fromEntries(currencies.map((one) => [one.currency, one.verdict]));
    return { verdict, currencies: each, kinds };
  };
  const frozen: [string, string][] = [];
  const close = async (month: string, day: string): Promise<void> => {
    expect((await reporting.closePeriod(month, day, 'ada')).kind).toBe('closed');
    frozen.push([month, await statementOf(month)]);
  };
  const statementOf = async (month: string): Promise<string> => {
    const rows = ledger.db.selectFrom('period_rows').selectAll().where('month', '=', month);
    return JSON.stringify((await rows.execute()).map(({ cells, sheet }) => [sheet, cells]));
  };
  const faultFirst = story === 'the fault, then close' || story === 'fault, two closes';
  await night(november(24), well);
  if (faultFirst) await night(november(25), wrong);
  if (story !== 'no close') await close('2026-11', december(2));
  if (!faultFirst) await night(december(3), wrong);
  if (story === 'two closes' || story === 'fault, two closes')
    await close('2026-12', '2027-01-02T12:00:00.000Z');
  const last = await night('2027-01-03T12:00:00.000Z', wrong);
  for (const [month, text] of frozen)
    expect(await statementOf(month), `${month} is as it was closed`).toBe(text);
  expect(await checkPeriods(ledger.db)).toEqual([]);
  return last;
}

it.each([...Object.keys(faults), 'an accepted one is never listed'])(
  'P30: closing a month changes no verdict of today: %s',
  async (fault) => {
    const open = await told('no close', fault);
    const calm = [
      'nothing is wrong',
      'a fee changes',
      'a paid transfer comes back',
      'it is listed twice, and once failed',
    ];
    expect(open.verdict).toBe(calm.includes(fault) ? 'reconciled' : 'exceptions');
    for (const story of stories.slice(1)) expect(await told(story, fault), story).toEqual(open);
  },
);
