import { beforeAll, expect, it } from 'vitest';
import type { PayoutState } from '../../../src/core/domain/payout.ts';
import { loadEvidence, type PayoutEvidence } from '../../../src/watching/evidence/evidence.sql.ts';
import { listedAs, severalListed } from '../../../src/watching/evidence/listed-as.ts';
import { addBatch, at, makeLedger } from '../../support/ledger.ts';

let plain: PayoutEvidence;

beforeAll(async () => {
  const ledger = await makeLedger();
  const [one] = await loadEvidence(ledger.db, await addBatch(ledger, ['R-1']));
  await ledger.remove();
  if (!one) throw new Error('no evidence');
  plain = one;
});

const settled = 10;
const ended = (state: PayoutState, more: Partial<PayoutEvidence> = {}): PayoutEvidence => ({
  ...plain,
  payout: { ...plain.payout, state, final_at: at(settled) },
  ...more,
});
const whole = (statuses: string[], from: number, to: number): Partial<PayoutEvidence> => ({
  listing: {
    ...{ run: 'whole', startedAt: at(from), finishedAt: at(to), webhookMark: 0n, statuses },
    transfers: statuses.map((_, i) => `T-${i}`),
  },
});
const later = (status: string, from: number, to: number | null, transfer = 'T-0') => ({
  ...{ run: 'later', startedAt: at(from), finishedAt: to === null ? null : at(to), status, transfer },
});
const said = (evidence: PayoutEvidence) =>
  listedAs(evidence, ['success'])?.why.replace('the listing of run ', '');

it('P16: a complete list speaks if it ended after the payout came to its state', () => {
  expect(said(ended('refused'))).toBeUndefined();
  expect(said(ended('refused', whole(['failed', 'success'], 5, 11)))).toBe(
    'whole shows a transfer of it as success',
  );
  expect(said(ended('refused', whole(['success'], 5, settled)))).toBeUndefined();
  expect(said(ended('refused', whole(['failed'], 11, 12)))).toBeUndefined();
});

it('P16: only a list begun since says that a failed payout is pending now, also by an unfamiliar status', () => {
  for (const word of ['pending', 'odd']) {
    expect(said(ended('failed', whole([word], 11, 12)))).toBe(`whole shows a transfer of it as ${word}`);
    expect(said(ended('failed', whole([word], settled, 12)))).toBeUndefined();
    expect(said(ended('refused', whole([word], 11, 12)))).toBeUndefined();
    expect(said(ended('failed', { listedSince: [later(word, 11, 12)] }))).toContain('later shows');
    expect(said(ended('failed', { listedSince: [later(word, settled, 12)] }))).toBeUndefined();
    expect(said(ended('refused', { listedSince: [later(word, 11, 12)] }))).toBeUndefined();
  }
});

it('P16, P29: a later run needs no complete list, and one that never ended may have read it at any time', () => {
  const since = (...listedSince: PayoutEvidence['listedSince']) => said(ended('failed', { listedSince }));
  expect(since(later('failed', 5, 11), later('success', 5, 11))).toContain('later shows');
  expect(since(later('success', 5, settled))).toBeUndefined();
  expect(since(later('success', 5, null))).toContain('later shows');
});

it('counts the transfers of the list and of the runs after it, each once', () => {
  const listed = whole(['success'], 5, 11);
  expect(severalListed(ended('success'))).toBe(false);
  expect(severalListed(ended('success', whole(['success', 'failed'], 5, 11)))).toBe(true);
  expect(severalListed(ended('success', { ...listed, listedSince: [later('success', 12, 13)] }))).toBe(false);
  expect(severalListed(ended('success', { ...listed, listedSince: [later('failed', 12, 13, 'T-9')] }))).toBe(
    true,
  );
});

it('a payout that has not ended came to its state with its last attempt, else with its last change', () => {
  const open = ended('unknown', whole(['success'], 5, 11));
  const payout = { ...open.payout, final_at: null, updated_at: at(20) };
  expect(said({ ...open, payout })).toBeUndefined();
  expect(said({ ...open, payout: { ...payout, updated_at: at(settled) } })).toBeDefined();
});
