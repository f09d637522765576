import { expect, it } from 'vitest';
import { type AbsenceFacts, judgeAbsence, type NotFound } from '../../../src/watching/evidence/absence.ts';

const hour = 3_600_000;
const at = (ms: number): string => new Date(Date.UTC(2026, 10, 21) + ms).toISOString();
const answers = (count: number, more: Partial<NotFound> = {}): NotFound[] =>
  Array.from({ length: count }, (_, i) => ({
    askedAt: at((i + 1) * hour),
    scheduled: true,
    probed: true,
    clockOffMs: 400,
    ...more,
  }));
/** A day's quiet period: 1, 5, 15, 60 minutes, and 23 times an hour later. */
const wanted = 27;
const facts: AbsenceFacts = {
  state: 'unknown',
  sends: 1,
  decisions: 0,
  unseenSends: 0,
  autoResends: 0,
  attempt: { beganAt: at(-1000), endedAt: at(0), code: null },
  notFound: answers(wanted),
  otherAnswers: 0,
  webhooks: 0,
  quietPeriodMs: 24 * hour,
  listing: {
    full: true,
    complete: true,
    begunAt: at(30 * hour),
    cut: at(30 * hour),
    oldestCreatedAt: at(-24 * hour),
    otherDomainSeen: false,
    rows: 0,
    lookAlikes: 0,
    sameAccount: true,
  },
};

it('P16: with all the evidence there can be, a payout counts as absent, and says why', () => {
  const verdict = judgeAbsence(facts);
  expect(verdict.kind).toBe('absent');
  expect(verdict.why).toContain(`27 scheduled look-ups from ${at(hour)} to ${at(27 * hour)}`);
  expect(verdict.why).toContain(`complete listing begun ${at(30 * hour)}`);
});

const { listing, attempt } = facts;
const listed = (more: Partial<AbsenceFacts['listing']>) => ({ listing: { ...listing, ...more } });
const attempted = (more: Partial<NonNullable<AbsenceFacts['attempt']>>) => ({
  attempt: attempt && { ...attempt, ...more },
});
it.each<[lack: string, Partial<AbsenceFacts>]>([
  ['it is not unknown', { state: 'pending' }],
  ['it was sent twice', { sends: 2 }],
  ['it was never sent', { sends: 0, attempt: null }],
  ['a person decided about it', { decisions: 1 }],
  ['a lost ledger may have sent it', { unseenSends: 1 }],
  ['it was resent by itself before', { autoResends: 1 }],
  ['its attempt was answered 09', attempted({ code: '09' })],
  ['its attempt was answered 9', attempted({ code: '9' })],
  ['a webhook named it', { webhooks: 1 }],
  ['a look-up was answered with something else', { otherAnswers: 1 }],
  ['the run was not a full one', listed({ full: false })],
  ['the listing was not complete', listed({ complete: false })],
  ['the listing showed another mode', listed({ otherDomainSeen: true })],
  ['it is listed', listed({ rows: 1 })],
  ['it may be listed under a name of the service’s own', listed({ lookAlikes: 1 })],
  ['the list may be of another account', listed({ sameAccount: false })],
  ['the listing began in the quiet period', listed({ begunAt: at(24 * hour) })],
  ['by the service’s clock the listing began in the quiet period', listed({ cut: at(24 * hour) })],
  ['the list is empty', listed({ oldestCreatedAt: null })],
  ['the list was pruned since', listed({ oldestCreatedAt: at(1) })],
  ['a rung was not climbed', { notFound: answers(wanted - 1) }],
  ['it was asked often but not on schedule', { notFound: answers(90, { scheduled: false }) }],
  ['our clock was off', { notFound: answers(wanted, { clockOffMs: -60_001 }) }],
  ['the answers bore no Date', { notFound: answers(wanted, { clockOffMs: null }) }],
  ['only one look-up was probed', { notFound: [...answers(1), ...answers(wanted - 1, { probed: false })] }],
  [
    'an answer came before the attempt ended',
    { notFound: [...answers(wanted - 1), ...answers(1, { askedAt: at(-1) })] },
  ],
])('P16: not absent while %s', (_lack, more) => {
  expect(judgeAbsence({ ...facts, ...more })).toMatchObject({ kind: 'not_yet' });
});

it('P16: a quiet period of nothing still takes the look-ups of the first hour', () => {
  const hasty = { ...facts, quietPeriodMs: 0 };
  expect(judgeAbsence({ ...hasty, notFound: answers(3) }).kind).toBe('not_yet');
  expect(judgeAbsence({ ...hasty, notFound: answers(4) }).kind).toBe('absent');
});
