import { describe, expect, it } from 'vitest';
import { type KnownDiscrepancy, onSight } from '../../../src/core/domain/discrepancy-life.ts';

const shown = { expected: '10.00', actual: '9.00' };
const other = { expected: '10.00', actual: '8.00' };
const known = (more: Partial<KnownDiscrepancy>): KnownDiscrepancy => ({
  state: 'open',
  resolvedBy: null,
  note: '',
  reopened: 0,
  closedWithPayout: false,
  ...shown,
  ...more,
});

describe('a discrepancy that a run finds', () => {
  it('is opened when it is new', () => {
    expect(onSight(undefined, shown)).toMatchObject({
      state: 'open',
      opens: true,
      event: { kind: 'opened' },
    });
  });

  it('has nothing to tell when it is as it was, whatever a person said of it', () => {
    for (const before of [
      known({}),
      known({ state: 'acknowledged', note: 'ticket 4711' }),
      known({ state: 'resolved', resolvedBy: 'person', note: 'recalled' }),
    ]) {
      const { state, resolvedBy, note, reopened, closedWithPayout } = before;
      expect(onSight(before, shown)).toEqual({
        state,
        resolvedBy,
        note,
        reopened,
        closedWithPayout,
        event: null,
        opens: false,
      });
    }
  });

  it('says what it was before when it is open and another value is found', () => {
    expect(onSight(known({}), other)).toMatchObject({
      state: 'open',
      opens: false,
      event: { kind: 'changed', note: 'before: expected 10.00, found 9.00' },
    });
  });

  it('opens again when it changed since a person acknowledged it', () => {
    expect(onSight(known({ state: 'acknowledged', note: 'ticket 4711' }), other)).toMatchObject({
      state: 'open',
      opens: true,
      reopened: 0,
      note: 'changed since a person acknowledged it (ticket 4711); then expected 10.00, found 9.00',
    });
  });

  it('opens again when it changed since a person resolved it', () => {
    const before = known({ state: 'resolved', resolvedBy: 'person', note: 'recalled' });
    expect(onSight(before, other)).toMatchObject({
      state: 'open',
      resolvedBy: null,
      reopened: 1,
      note: 'changed since a person resolved it (recalled); then expected 10.00, found 9.00; reopened once',
    });
  });

  it('P32: what was closed with its payout stays so while that is, whatever is expected since', () => {
    for (const state of ['acknowledged', 'resolved'] as const) {
      const before = known({
        state,
        resolvedBy: state === 'resolved' ? 'person' : null,
        closedWithPayout: true,
      });
      const expected = { expected: 'paid', actual: shown.actual };
      expect(onSight(before, expected, true)).toMatchObject({ state, opens: false, closedWithPayout: true });
      expect(onSight(before, other, true), 'another value is news').toMatchObject({ opens: true });
      expect(onSight(before, shown, false)).toMatchObject({
        state: 'open',
        opens: true,
        closedWithPayout: false,
        note: expect.stringMatching(/^evidence reopened its payout, which a person had closed/),
      });
    }
  });

  it('opens again when evidence had closed it, and counts how often', () => {
    const before = known({ state: 'resolved', resolvedBy: 'evidence', note: 'closed by …', reopened: 2 });
    expect(onSight(before, shown)).toMatchObject({
      state: 'open',
      resolvedBy: null,
      reopened: 3,
      note: 'came back; reopened 3 times',
      event: { kind: 'reopened' },
    });
  });
});

it('what is found for the first time is open, and was never reopened', () => {
  expect(onSight(undefined, { expected: 'a', actual: 'b' })).toEqual({
    ...{ state: 'open', resolvedBy: null, note: '', reopened: 0, closedWithPayout: false, opens: true },
    event: { kind: 'opened', note: '' },
  });
});

it('another expectation is a change too, and a decision without a note is told without one', () => {
  const before = { note: '', expected: 'a', actual: 'b', reopened: 0, closedWithPayout: false };
  const open = onSight({ ...before, state: 'open', resolvedBy: null }, { expected: 'c', actual: 'b' });
  expect(open.event).toEqual({ kind: 'changed', note: 'before: expected a, found b' });
  const seen = onSight(
    { ...before, state: 'acknowledged', resolvedBy: null },
    { expected: 'c', actual: 'b' },
  );
  expect(seen.note).toBe('changed since a person acknowledged it; then expected a, found b');
});

it('P32: what was closed with its payout reopens when the payout does, or when another value is found', () => {
  const closed = {
    ...{ state: 'resolved' as const, resolvedBy: 'person' as const, note: '', reopened: 0 },
    ...{ expected: 'a', actual: 'b', closedWithPayout: true },
  };
  expect(onSight(closed, { expected: 'c', actual: 'b' }, true).opens).toBe(false);
  expect(onSight(closed, { expected: 'a', actual: 'b' }).note).toContain('evidence reopened its payout');
  expect(onSight(closed, { expected: 'a', actual: 'd' }, true).note).toContain(
    'changed since a person resolved',
  );
});
