import type { Remedy } from '../../../watching/evidence/remedy.ts';
import type { WeighedCase } from '../../../watching/evidence/weigh.ts';

type About = Pick<WeighedCase, 'payout' | 'batch' | 'discrepancies'>;

const texts: Record<Remedy, (about: About) => string> = {
  wait: ({ payout }) =>
    `wait for its answer; counterfoil show ${payout.reference} shows it, and then counterfoil settle ${payout.reference} can close it`,
  release: ({ batch }) => `counterfoil release ${batch.id} releases it, or says what holds it`,
  submit: () => 'counterfoil submit sends it once it may',
  retry: ({ payout }) => `counterfoil retry ${payout.reference} pays it again`,
  cancel: ({ payout }) =>
    payout.submitted_at === null
      ? `counterfoil cancel ${payout.reference} drops it`
      : `counterfoil cancel ${payout.reference} takes back that it is sent again`,
  settle: ({ payout }) =>
    `counterfoil settle ${payout.reference} --as paid|not-paid --note "how you know" closes it`,
  resolve: ({ discrepancies }) =>
    `counterfoil discrepancies resolve ${discrepancies.map(({ id }) => id).join(' ')} --note "what was found" closes what is open about it`,
};

/** What a person can do instead: each command that ends the payout's state, or that shows that it ended. */
export function remedyText(one: About & Pick<WeighedCase, 'remedies'>): string {
  const { remedies, payout } = one;
  if (remedies.length === 0) return `counterfoil show ${payout.reference} shows its story`;
  return remedies.map((remedy) => texts[remedy](one)).join('; or ');
}
