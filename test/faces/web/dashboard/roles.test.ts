import { expect, it } from 'vitest';
import { discrepancyKinds } from '../../../../src/core/domain/discrepancy-kinds.ts';
import type { Role } from '../../../../src/core/settings/settings-schema.ts';
import { halt } from '../../../../src/sending/halts.sql.ts';
import { onDesk } from '../../../../src/words/desk-words.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../../support/ledger.ts';
import { addDiscrepancy, addRun, addUnapproved, startDashboard } from './support.ts';

const textOf = (body: string): string =>
  (/<main.*<\/main>/s.exec(body)?.[0] ?? '').replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

const roles: Record<string, Role[]> = {
  none: [],
  reader: ['read'],
  dropper: ['read', 'drop'],
  approver: ['read', 'approve'],
  decider: ['read', 'decide'],
  everything: ['read', 'drop', 'approve', 'decide'],
};

/** A ledger in which everything went wrong that can: each page has much to say. */
async function afterTrouble() {
  const dashboard = await startDashboard({ names: Object.keys(roles), roles, submit: '' });
  const { ledger } = dashboard;
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await addBatch(ledger, ['B-1', 'B-2', 'B-3'], { id: 'b-2' });
  const [unknown, refused] = await claimAt(ledger, at(1), 2);
  if (unknown) await recordOutcome(ledger, at(2), unknown, replies.unknown());
  if (refused) await recordOutcome(ledger, at(2), refused, replies.refused());
  await addBatch(ledger, ['C-1'], { id: 'b-3', state: 'held' });
  const reasons = [{ kind: 'person' }, { kind: 'cancelled' }, { kind: 'file_missing', path: '/x' }];
  await ledger.db
    .updateTable('batches')
    .set({ hold_reasons: JSON.stringify(reasons) })
    .where('id', '=', 'b-3')
    .execute();
  for (const kind of discrepancyKinds)
    if (!kind.startsWith('collection'))
      await addDiscrepancy(ledger, { kind, payoutId: 3n, reference: 'B-1' });
  await addRun(ledger, 'not_compared');
  const cause = { kind: 'account', code: '10', message: 'insufficient balance', reference: 'B-1' } as const;
  await ledger.write((trx) => halt(trx, cause, at(3)));
  return dashboard;
}

/** Every page that the pages link to, from the first one on. */
async function walk(
  { as }: Awaited<ReturnType<typeof afterTrouble>>,
  name: string,
): Promise<Map<string, { status: number; body: string }>> {
  const seen = new Map<string, { status: number; body: string }>();
  const waiting = ['/'];
  for (let path = waiting.pop(); path !== undefined && seen.size < 150; path = waiting.pop()) {
    if (seen.has(path)) continue;
    const answer = await as(name, path);
    seen.set(path, answer);
    for (const [, link = ''] of answer.body.matchAll(/href="(\/[^"#]*)"/g))
      if (!link.startsWith('/reports')) waiting.push(link.replaceAll('&#38;', '&'));
  }
  return seen;
}

it.each(Object.keys(roles))(
  'no page tells a person with the roles of "%s" to type a command',
  async (name) => {
    const pages = await walk(await afterTrouble(), name);
    expect(pages.size).toBeGreaterThan(20);
    for (const [path, { status, body }] of pages) {
      expect([path, /counterfoil [a-z-]+/.exec(textOf(body))]).toEqual([path, null]);
      // A page that is linked may be read, but for a reader without bank details, who is told what it takes.
      const may =
        name === 'none' && /^\/(payouts|payees|batches\/[^/]+\/columns)/.test(path) ? [200, 403] : [200];
      if (path !== '/signin') expect(may, path).toContain(status);
    }
  },
);

it('names who may decide to a person who may not, and offers the decision to one who may', async () => {
  const dashboard = await afterTrouble();
  const text = async (name: string, path: string) => textOf((await dashboard.as(name, path)).body);
  for (const path of ['/', '/batches/b-2', '/batches/b-3', '/payouts/B-1', '/runs', '/discrepancies']) {
    expect(await text('reader', path), path).toMatch(/role decide/);
    expect(await text('decider', path), path).not.toMatch(/role decide/);
  }
  expect(await text('reader', '/batches/b-1')).toMatch(/role approve/);
  expect(await text('approver', '/batches/b-1')).toContain('Review and approve…');
});

it('names what the desk has in place of each command', () => {
  const said: Record<string, string> = {
    'Then close it with counterfoil settle PAY-1 --as paid|not-paid --note "how you know".':
      'Then close it with “Settle by hand”.',
    'counterfoil release b-20261101 sends it': '“Release” sends it',
    'Then run counterfoil release --mode, or counterfoil cancel b-1.':
      'Then use “Release” on Today, or “Cancel”.',
    'run counterfoil reconcile --full': 'use “Reconcile the whole list”',
    'counterfoil restore --adopt makes it safe to use': 'the operator’s restore --adopt makes it safe to use',
    'counterfoil release --mode --evidence abc --note "how you know" lets new batches go':
      'the operator’s release --mode --evidence abc --note "how you know" lets new batches go',
  };
  for (const [command, page] of Object.entries(said)) expect(onDesk(command)).toBe(page);
});
