import type { DiscrepancyKind } from '../../src/core/domain/discrepancy-kinds.ts';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import { pairListed } from '../../src/watching/listing/pairing.sql.ts';
import { addDiscrepancy, addListed, addPayout, addRun, cut, runId, type World } from './support.ts';

/** What a spreadsheet would run or a browser would, as names, messages and references that others wrote. */
export const hostile = {
  name: '"><img src=x onerror=alert(1)>\u202egnp',
  message: '</title></svg><script>alert(1)</script>',
  formula: '=HYPERLINK("http://evil.example","pay")',
  reference: 'X"; rm -rf ~ #',
};

const currencies = [
  { currency: 'NGN', unit: 1_250_000n },
  { currency: 'ZAR', unit: 84_050n },
  { currency: 'KES', unit: 310_500n },
] as const;
const fates: [PayoutState, ...PayoutState[]][] = [
  ['ready', 'sending', 'pending', 'success'],
  ['ready', 'sending', 'pending', 'success'],
  ['ready', 'sending', 'pending', 'success'],
  ['ready', 'sending', 'pending', 'success'],
  ['ready', 'sending', 'pending', 'failed'],
  ['ready', 'sending', 'refused'],
  ['ready', 'sending', 'pending'],
  ['ready', 'sending', 'unknown'],
  ['ready', 'sending', 'pending', 'success', 'returned'],
  ['ready'],
];
const reasons = ['Insufficient limit', 'Account closed', 'Beneficiary bank not available', hostile.message];
const kinds: DiscrepancyKind[] = [
  'amount_conflict',
  'missing_at_service',
  'unknown_outcome',
  'stale_pending',
  'webhook_missing',
];
const severities = ['high', 'high', 'high', 'medium', 'low'] as const;
const minute = 60_000;

/** Fills the ledger with eleven days of payouts in three currencies and 60 open discrepancies, and freezes the run. */
export async function busyMonth({ ledger, reporting }: World): Promise<void> {
  await addRun(ledger);
  let n = 0;
  for (let day = 10; day >= 0; day--) {
    for (const { currency, unit } of currencies) {
      for (const [index, path] of fates.entries()) {
        n += 1;
        if ((n * 7 + day) % 5 === 0 && index < 4) continue;
        const began = Date.parse(cut) - day * 1440 * minute - (60 + index * 17) * minute;
        const iso = (ms: number): string => new Date(ms).toISOString();
        const last = path.at(-1);
        const settled = began + (n % 9) * 11 * minute + 20_000;
        const payout = await addPayout(ledger, `${currency}-${n}`, path, {
          currency,
          amount: unit * BigInt((n % 13) + 1),
          account_name: index === 4 ? hostile.name : 'Adaeze Okonkwo',
          bank_code: ['058', '011', '033', '044'][n % 4] ?? '058',
          times: path.map((_, step) => iso(began + step * minute)),
          submitted_at: path.length > 1 ? iso(began) : null,
          ...(last === 'success' || last === 'returned'
            ? { settled_at: iso(settled), fee: `${10 + (n % 3)}.755` }
            : {}),
          ...(['success', 'failed', 'returned'].includes(last ?? '') ? { final_at: iso(settled) } : {}),
          ...(last === 'failed' || last === 'refused' ? { message: reasons[n % reasons.length] ?? '' } : {}),
        });
        if (last === 'success' || last === 'pending')
          await addListed(ledger, `${currency}-${n}`, {
            currency,
            amount: unit * BigInt((n % 13) + 1),
            status: last,
          });
        if (n % 5 === 0)
          await addDiscrepancy(ledger, `D-${n}`, {
            kind: kinds[(n / 5) % kinds.length] ?? 'fee_conflict',
            severity: severities[(n / 5) % kinds.length] ?? 'low',
            currency,
            payout_id: payout,
            reference: `${currency}-${n}`,
            advice: JSON.stringify({
              watched: { until: iso(Date.parse(cut) + 1440 * minute), isOver: false },
            }),
            first_seen_at: iso(Date.parse(cut) - (n % 40) * 1440 * minute),
          });
      }
    }
  }
  await addListed(ledger, 'nobody', { amount: 4_200n, payout_id: null });
  await addDiscrepancy(ledger, 'D-foreign', {
    kind: 'missing_in_ledger',
    transfer_id: 'T-nobody',
    reference: hostile.reference,
    actual: hostile.formula,
    expected: '',
  });
  await pairListed(ledger, runId);
  await reporting.freezeRun(runId, cut);
}
