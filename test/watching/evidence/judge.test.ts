import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Contradiction } from '../../../src/core/domain/contradiction.ts';
import type { PayoutState, WitnessStatus } from '../../../src/core/domain/payout.ts';
import type { LookUpOutcome } from '../../../src/core/storage/tables/said-columns.ts';
import { loadEvidence, type PayoutEvidence } from '../../../src/watching/evidence/evidence.sql.ts';
import { judge } from '../../../src/watching/evidence/judge.ts';
import { lookUpResultOf } from '../../../src/watching/evidence/look-up-result.ts';
import { reasonText } from '../../../src/words/advice-text.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
let plain: PayoutEvidence;

beforeEach(async () => {
  ledger = await makeLedger();
  const ids = await addBatch(ledger, ['R-1']);
  const [one] = await loadEvidence(ledger.db, ids);
  if (!one) throw new Error('no evidence');
  plain = one;
});
afterEach(() => ledger.remove());

function listingOf(statuses: string[], from: number, to: number): NonNullable<PayoutEvidence['listing']> {
  const transfers = statuses.map((_, i) => `T-${i + 1}`);
  return { run: 'r', startedAt: at(from), finishedAt: at(to), webhookMark: 0n, statuses, transfers };
}

type Asked = [outcome: LookUpOutcome, said: WitnessStatus | null, against?: Contradiction | null];

const against = (said: WitnessStatus): Asked => [
  'against_ledger',
  said,
  { kind: 'against_ledger', source: 'details', said, state: 'failed' },
];
const differing = (field: string, actual: string, expected: string): Asked => [
  'differs',
  null,
  { kind: 'differs', differences: [{ field, actual, expected }] },
];

type Outcome = PayoutEvidence['attempts'][number]['outcome'];

function evidence(
  state: PayoutEvidence['payout']['state'],
  more: { outcomes?: Outcome[]; asked?: Asked; listed?: string[] } & Partial<
    Pick<PayoutEvidence, 'successor'>
  > = {},
): PayoutEvidence {
  const { outcomes = ['accepted'], asked, listed, successor = null } = more;
  const attempts = outcomes.map((outcome, i) => ({
    id: BigInt(i + 1),
    payout_id: plain.payout.id,
    number: BigInt(i + 1),
    worker_id: 'w-1',
    began_at: at(i * 10),
    ended_at: outcome === null ? null : at(i * 10 + 1),
    outcome,
    http_status: null,
    code: null,
    message: null,
    transfer_id: null,
    raw: null,
    day_id: 1n,
    origin_id: 0n,
    clock_off_ms: null,
  }));
  const final = ['success', 'failed', 'returned'].includes(state);
  return {
    ...plain,
    payout: { ...plain.payout, state, final_at: final ? at(100) : null },
    attempts,
    lookUp: asked ? { askedAt: at(300), answeredAt: at(301), outcome: asked[0], said: asked[1] } : null,
    contradiction: asked?.[2] ?? null,
    listing: listed ? listingOf(listed, 150, 200) : null,
    successor,
  };
}

const since = at(250);
const kind = (one: PayoutEvidence, from = since): string => judge(one, from).kind;

describe('P20: a failed payout', () => {
  it('gets a successor when the service says now that it failed', () => {
    expect(kind(evidence('failed', { asked: ['found', 'failed'] }))).toBe('successor');
  });

  it('gets none on a look-up from before this decision', () => {
    expect(kind(evidence('failed', { asked: ['found', 'failed'] }), at(301))).toBe('no');
  });

  it.each(['pending', 'success', 'returned'] as const)('gets none when the service now says %s', (said) => {
    expect(kind(evidence('failed', { asked: ['found', said], listed: ['failed'] }))).toBe('no');
  });

  it('gets none when the look-up contradicts the ledger', () => {
    expect(kind(evidence('failed', { asked: against('success'), listed: ['failed'] }))).toBe('no');
  });

  it.each(['error', 'outdated', 'no_witness', 'not_found', 'superseded'] as const)(
    'rests on a complete listing made since, when the look-up came to %s',
    (outcome) => {
      expect(kind(evidence('failed', { asked: [outcome, null], listed: ['failed'] }))).toBe('successor');
      expect(kind(evidence('failed', { asked: [outcome, null] }))).toBe('no');
      expect(kind(evidence('failed', { asked: [outcome, null], listed: [] }))).toBe('no');
    },
  );

  it('gets none on a listing that ended before it was final', () => {
    const early = evidence('failed', { listed: ['failed'] });
    const listing = listingOf(['failed'], 50, 99);
    expect(kind({ ...early, listing })).toBe('no');
  });

  it('gets none while the listing shows that money left', () => {
    expect(kind(evidence('failed', { asked: ['found', 'failed'], listed: ['failed', 'success'] }))).toBe(
      'no',
    );
  });

  it('needs every send that may have been taken to be listed as failed (P17)', () => {
    const twice = {
      outcomes: ['unknown', 'unknown'] satisfies Outcome[],
      asked: ['found', 'failed'] as const,
    };
    const asked: Asked = [...twice.asked];
    expect(kind(evidence('failed', { ...twice, asked }))).toBe('no');
    expect(kind(evidence('failed', { ...twice, asked, listed: ['failed'] }))).toBe('no');
    expect(kind(evidence('failed', { ...twice, asked, listed: ['failed', 'failed'] }))).toBe('successor');
  });
});

describe('P20: what a failed payout still lacks is said', () => {
  const why = (one: PayoutEvidence, from = since): string => {
    const told = judge(one, from);
    return told.kind === 'no' ? reasonText(told) : told.kind;
  };

  it('when the look-up and the listing are older', () => {
    const old = evidence('failed', { asked: ['found', 'failed'], listed: ['failed'] });
    const listing = listingOf(['failed'], 50, 99);
    expect(why({ ...old, listing }, at(301))).toBe(
      `nothing confirms now that it failed: the look-up of ${at(301)} is older than this question, and the listing of run r is older than the word that it failed; enough is a look-up made now, or a complete listing begun from now on, that shows it as failed: run counterfoil reconcile --full, then counterfoil retry R-1. If that does not show it either, ask the service in writing; once it says that nothing was or will be paid, pay it under a new reference in a new file`,
    );
    const outrun = { ...listing, startedAt: at(0), finishedAt: at(200) };
    expect(why({ ...old, listing: outrun }, at(301))).toContain('run r is older than the last attempt');
  });

  it.each<[LookUpOutcome | undefined, string[] | undefined, string]>([
    [undefined, undefined, 'no look-up was answered, and no listing was ever proven complete'],
    ['not_found', [], `the look-up of ${at(301)} did not find it, and the listing of run r does not show it`],
    ['error', ['failed', 'pending'], 'the listing of run r shows a transfer of it as pending'],
  ])('when the look-up came to %s and the listing shows %s', (outcome, listed, text) => {
    const asked: Asked | undefined = outcome === undefined ? undefined : [outcome, null];
    const more = { ...(asked && { asked }), ...(listed && { listed }) };
    expect(why(evidence('failed', more))).toContain(text);
  });

  it('when several sends may have been taken (P17)', () => {
    const outcomes = ['unknown', 'unknown'] satisfies Outcome[];
    const told = why(evidence('failed', { outcomes, asked: ['found', 'failed'], listed: ['failed'] }));
    expect(told).toContain('a look-up shows one transfer, but it was sent more than once');
    expect(told).toContain('the listing of run r shows 1 of the 2 transfers that there may be');
    expect(told).toContain('shows 2 transfers of it, all failed');
  });
  it('when it was turned away before, since the service may have taken that one', () => {
    const outcomes = ['turned_away', 'accepted'] satisfies Outcome[];
    const told = why(evidence('failed', { outcomes, asked: ['found', 'failed'] }));
    expect(told).toContain('a look-up shows one transfer, but it was sent more than once');
    expect(told).toContain('shows 1 transfer of it, all failed');
  });

  it('when only a person said so: the service’s word, not the same command for ever', () => {
    const one = evidence('failed', { asked: ['not_found', null], listed: [] });
    const told = why({ ...one, payout: { ...one.payout, evidence: 'person' } });
    expect(told).toMatch(/^only a person has said that it failed; the service has not confirmed it\. /);
    expect(told).not.toContain('reconcile');
  });
});

describe('P20: other payouts', () => {
  it('an unknown may be sent again unless the service shows a transfer under its reference', () => {
    const lost = { outcomes: ['unknown'] satisfies Outcome[] };
    expect(kind(evidence('unknown', lost))).toBe('again');
    expect(kind(evidence('unknown', { ...lost, asked: ['not_found', null], listed: [] }))).toBe('again');
    expect(kind(evidence('unknown', { ...lost, asked: differing('amount', '1', '2') }))).toBe('no');
    expect(kind(evidence('unknown', { ...lost, listed: ['pending'] }))).toBe('no');
  });

  it('what was refused or came back gets a successor, but not while another send of it may have stayed', () => {
    expect(kind(evidence('refused', { outcomes: ['refused'] }))).toBe('successor');
    expect(kind(evidence('refused', { outcomes: ['refused'], listed: ['pending'] }))).toBe('no');
    expect(kind(evidence('returned', { listed: ['success'] }))).toBe('successor');
    const twice = { outcomes: ['unknown', 'accepted'] satisfies Outcome[] };
    expect(kind(evidence('returned', { ...twice, listed: ['success', 'failed'] }))).toBe('no');
  });

  it('nothing is sent beside a successor or an attempt under way', () => {
    expect(judge(evidence('refused', { successor: 'R-1-R2' }), since)).toMatchObject({
      kind: 'no',
      why: expect.stringContaining('R-1-R2 already pays it'),
    });
    expect(kind(evidence('unknown', { outcomes: ['unknown', null] }))).toBe('no');
  });

  it('P15: what was refused or returned gets none while the look-up contradicts ours', () => {
    const asked = differing('bank_code', '13', '000013');
    expect(kind(evidence('refused', { outcomes: ['refused'], asked }))).toBe('no');
    expect(kind(evidence('returned', { asked }))).toBe('no');
  });

  it('P25: none is sent again beside a look-alike, when a lost copy of the ledger may have paid it', () => {
    const alike = { lookAlikes: ['R-1-R2'], adoptedAt: at(150) };
    const lost = { outcomes: ['unknown'] satisfies Outcome[] };
    expect(kind({ ...evidence('unknown', lost), ...alike })).toBe('no');
    expect(kind({ ...evidence('failed', { asked: ['found', 'failed'] }), ...alike })).toBe('no');
    expect(kind({ ...evidence('unknown', lost), ...alike, adoptedAt: null })).toBe('again');
  });

  it('P25: a list that was begun before the ledger was adopted shows nothing of what the lost copy paid', () => {
    const lost = evidence('unknown', { outcomes: ['unknown'], listed: [] });
    expect(kind({ ...lost, adoptedAt: at(150) })).toBe('no');
    expect(kind({ ...lost, adoptedAt: at(149) })).toBe('again');
  });

  it.each(['held', 'ready', 'sending', 'pending', 'success', 'cancelled'] as const)(
    'not from %s',
    (state) => {
      expect(kind(evidence(state))).toBe('no');
    },
  );
});

it('a look-up’s verdict is one word, and what is no clear word is no answer', () => {
  const told = (outcome: LookUpOutcome, said: WitnessStatus | null, state: PayoutState = 'failed') =>
    lookUpResultOf({ lookUp: { askedAt: '', answeredAt: '', outcome, said }, payout: { state } });
  expect(lookUpResultOf({ lookUp: null, payout: { state: 'failed' } })).toBe('none');
  expect(told('found', 'failed')).toBe('failed');
  expect(told('found', null)).toBe('no_answer');
  expect(told('differs', 'success')).toBe('conflict');
  expect(told('outdated', null)).toBe('no_answer');
  expect(told('against_ledger', 'failed', 'success')).toBe('conflict');
  expect(told('against_ledger', 'failed', 'returned'), 'P36').toBe('failed');
});

it('P8: a cancelled payout that the list shows as paid gets no new reference proposed', () => {
  const payout = { ...plain.payout, state: 'cancelled' as const };
  expect(judge({ ...plain, payout }, at(0))).toMatchObject({
    why: expect.stringContaining('a new reference'),
  });
  const shown = { ...plain, payout, listing: listingOf(['success'], 1, 2) };
  const said = judge(shown, at(0));
  expect(said).toMatchObject({ kind: 'no', why: expect.not.stringContaining('a new reference') });
});
