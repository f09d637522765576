import { describe, expect, it } from 'vitest';
import { type CanaryStanding, judgeCanary } from '../../src/sending/canary.ts';

const standing = (counts: CanaryStanding['counts'], more: Partial<CanaryStanding> = {}): CanaryStanding => ({
  counts,
  bad: null,
  overdue: null,
  ...more,
});

describe('P21: a canary', () => {
  it.each(['held', 'ready', 'sending', 'pending'] as const)('waits while one of it is %s', (state) => {
    expect(judgeCanary(standing({ success: 4, [state]: 1 }), 4)).toEqual({ kind: 'waits' });
  });

  it('has passed when every payout of it is paid or was cancelled', () => {
    expect(judgeCanary(standing({ success: 5 }), 4)).toEqual({ kind: 'passed' });
    expect(judgeCanary(standing({ success: 1, cancelled: 4 }), 4)).toEqual({ kind: 'passed' });
  });

  it('shows nothing when all of it was cancelled', () => {
    expect(judgeCanary(standing({ cancelled: 5 }), 4)).toEqual({ kind: 'void' });
  });

  it('fails for one that went wrong, whatever became of the others', () => {
    const bad = { reference: 'A-2', state: 'refused' } as const;
    expect(judgeCanary(standing({ success: 4, refused: 1 }, { bad }), 4)).toEqual({
      kind: 'failed',
      failure: { kind: 'went_wrong', reference: 'A-2', state: 'refused' },
      isOpen: false,
    });
  });

  it('fails for one that nothing lets go, rather than keep the rest back for ever', () => {
    const counts = { success: 4, held: 1 };
    expect(judgeCanary(standing(counts, { withheld: 'A-3' }), 4)).toEqual({
      kind: 'failed',
      failure: { kind: 'withheld', reference: 'A-3' },
      isOpen: false,
    });
    expect(judgeCanary(standing(counts), 4)).toEqual({ kind: 'waits' });
  });

  it('fails for one that has not settled in canary_hours', () => {
    expect(judgeCanary(standing({ success: 4, pending: 1 }, { overdue: 'A-5' }), 4)).toEqual({
      kind: 'failed',
      failure: { kind: 'not_settled', reference: 'A-5', hours: 4 },
      isOpen: true,
    });
  });
});
