import { describe, expect, it } from 'vitest';
import { approvalAsked, behindSudo, isAmong } from '../../src/sending/approval.ts';
import { ownText } from '../../src/words/results/obstacle-words.ts';

const totals = new Map([
  ['NGN', 500_000_001n],
  ['ZAR', 900n],
]);

describe('the rule of submission.approval', () => {
  it('asks never, always, or above a total of a currency', () => {
    expect(approvalAsked({ approval: 'none', approvalAbove: { NGN: '1.00' } }, totals)).toBeNull();
    expect(approvalAsked({ approval: 'always', approvalAbove: {} }, totals)).toEqual({ kind: 'always' });
    expect(approvalAsked({ approval: 'above', approvalAbove: { NGN: '5000000.00' } }, totals)).toEqual({
      kind: 'above',
      totals: [{ currency: 'NGN', total: '5000000.01', limit: '5000000.00' }],
    });
  });

  it('asks nothing of a total that equals the limit, nor of a currency without one', () => {
    expect(approvalAsked({ approval: 'above', approvalAbove: { NGN: '5000000.01' } }, totals)).toBeNull();
    expect(approvalAsked({ approval: 'above', approvalAbove: { USD: '1.00' } }, totals)).toBeNull();
  });
});

describe('P2: the second person', () => {
  const alice = { name: 'alice', uid: 1000 };

  it('is another account than the one that dropped the batch', () => {
    expect(isAmong(alice, [{ name: 'bob', uid: 1001 }])).toBe(false);
    expect(isAmong(alice, [alice])).toBe(true);
    expect(ownText(alice)).toMatch(/^alice dropped it, and nobody approves .* of their own/);
    const root = { name: 'root', uid: 0 };
    expect(isAmong(root, [root])).toBe(true);
    expect(ownText(root)).toMatch(/^root dropped it/);
  });

  it('is not the same account under another name, nor the one behind sudo', () => {
    expect(isAmong(alice, [{ name: 'alias', uid: 1000 }])).toBe(true);
    expect(isAmong(alice, [{ name: 'root', uid: 0 }, alice])).toBe(true);
  });

  it('hears what to do with a file that the service account owns', () => {
    const service = { name: 'counterfoil', uid: 990 };
    expect(isAmong(service, [service, { name: 'bob', uid: 1001 }])).toBe(true);
    expect(ownText(service)).toMatch(
      /failed\.csv, keeps its owner .* copy it there \(cp\) under your own account/,
    );
  });

  it('is known behind sudo by what sudo leaves in the environment', () => {
    expect(behindSudo({ SUDO_UID: '1000', SUDO_USER: 'alice' })).toEqual(alice);
    expect(behindSudo({ SUDO_UID: '1000' })).toEqual({ name: 'uid-1000', uid: 1000 });
    expect(behindSudo({})).toBeNull();
    expect(behindSudo({ SUDO_UID: 'x', SUDO_USER: 'alice' })).toBeNull();
  });

  it('is told by its name where accounts have no number', () => {
    expect(isAmong(alice, [{ name: 'alice', uid: null }])).toBe(true);
    expect(isAmong(alice, [{ name: 'bob', uid: null }])).toBe(false);
    expect(isAmong({ name: 'CORP\\Alice', uid: 1000 }, [{ name: 'corp\\alice', uid: null }])).toBe(true);
  });
});
