import { expect, it } from 'vitest';
import { discrepancyKinds } from '../../../../src/core/domain/discrepancy-kinds.ts';
import { type Role, roleNames } from '../../../../src/core/settings/settings-schema.ts';
import { halt } from '../../../../src/sending/halts.sql.ts';
import { allVerbs, type VerbName } from '../../../../src/verbs/verbs.ts';
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
      if (!link.startsWith('/reports') || name === 'none') waiting.push(link.replaceAll('&#38;', '&'));
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
      // A page that is linked may be read.
      if (path !== '/signin') expect(status, path).toBe(200);
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

/** The forms of each verb. What no form orders is for the terminal alone. */
const formsOf: Record<VerbName, readonly string[]> = {
  'take-in': [
    '/batches/new',
    ...['mend', 'take', 'discard'].map((end) => `/files/checks/:name/${end}`),
    '/files/rejected/:name/mend',
  ],
  submit: [],
  approve: ['/batches/:name/approve'],
  reject: ['/batches/:name/reject'],
  hold: ['/batches/:name/hold'],
  'hold-all': ['/halt'],
  release: ['/batches/:name/release'],
  'release-all': ['/release'],
  cancel: ['/batches/:name/cancel', '/payouts/:name/cancel'],
  retry: ['/payouts/:name/retry', '/batches/:name/again'],
  settle: ['/payouts/:name/settle'],
  resend: ['/payouts/:name/resend'],
  reconcile: ['/runs'],
  report: ['/runs/:name/report'],
  'close-period': ['/months/:name/close'],
  acknowledge: ['/discrepancies/acknowledge', '/files/rejected/:name/end'],
  resolve: ['/discrepancies/resolve'],
  decide: [],
  backup: [],
};

it('lets each role order its own verbs and no others, and names who may', async () => {
  const one = Object.fromEntries(roleNames.map((role) => [role, [role]]));
  const people: Record<string, Role[]> = { none: [], ...one };
  const { routes, as } = await startDashboard({
    names: Object.keys(people),
    roles: { ada: [], bola: [], ...people },
  });
  const posts = routes.flatMap(({ method, url }) => (method === 'POST' ? [url] : []));
  const ordered = allVerbs.flatMap(({ name }) => formsOf[name]);
  expect(posts.toSorted()).toEqual([...ordered, '/signin', '/signout'].toSorted());
  const may: Record<string, Role[]> = {};
  const should: Record<string, Role[]> = {};
  for (const verb of allVerbs)
    for (const path of formsOf[verb.name]) {
      may[path] = [];
      should[path] = [verb.can];
      for (const name of Object.keys(people)) {
        const { status, body } = await as(name, path.replace(':name', 'x'), { method: 'POST' });
        const isTurnedAway = status === 403 && body.includes('has no right to this');
        if (isTurnedAway) expect(body).toContain(`Ask ${verb.can}, who may do it (role ${verb.can}).`);
        else may[path].push(...roleNames.filter((role) => role === name));
      }
    }
  expect(may).toEqual(should);
});

it('names a few people who may, whatever the page, and not those who prepared the batch', async () => {
  const { ledger, as } = await startDashboard({
    names: ['cy', 'dee', 'eno', 'fay'],
    roles: { ada: ['read', 'approve'], bola: ['read'], cy: ['read', 'drop'] },
  });
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await ledger.db.updateTable('batches').set({ dropped_by: 'ada' }).execute();
  await addBatch(ledger, ['B-1'], { id: 'b-2' });
  const text = async (name: string, path: string) => textOf((await as(name, path)).body);
  expect(await text('bola', '/batches/b-1')).toContain('Ask dee, eno or fay, who may do it (role approve).');
  expect(await text('ada', '/batches/b-1')).toContain('Ask dee, eno or fay, who may do it (role approve).');
  expect(await text('ada', '/batches/b-1')).not.toContain('Review and approve…');
  for (const path of ['/payouts/B-1', '/runs', '/', '/months/2026-11/close'])
    expect(await text('cy', path), path).toContain('Ask dee, eno or fay, who may do it (role decide).');
  expect(await text('bola', '/batches/new')).toContain(
    'Ask cy, dee, eno or 1 more, who may do it (role drop).',
  );
});

it('names what the desk has in place of each command', () => {
  const said: Record<string, string> = {
    'Then close it with counterfoil settle PAY-1 --as paid|not-paid --note "how you know".':
      'Then close it with “Settle by hand”.',
    'counterfoil release b-20261101 sends it': '“Release” sends it',
    'Then run counterfoil release --mode, or counterfoil cancel b-1.':
      'Then use “Release” on Today, or “Cancel”.',
    'run counterfoil reconcile --full': 'use “Reconcile the whole list”',
    'It is frozen. counterfoil verify computes it again.':
      'It is frozen. The operator’s verify computes it again.',
    'counterfoil restore --adopt makes it safe to use': 'the operator’s restore --adopt makes it safe to use',
    'counterfoil release --mode --evidence abc --note "how you know" lets new batches go':
      'the operator’s release --mode --evidence abc --note "how you know" lets new batches go',
  };
  for (const [command, page] of Object.entries(said)) expect(onDesk(command)).toBe(page);
});
