import { expect, it, onTestFinished } from 'vitest';
import { openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { approveVerb, reviewApproval } from '../../src/verbs/approve.ts';
import { reconcileVerb } from '../../src/verbs/reconcile.ts';
import { submitVerb } from '../../src/verbs/submit.ts';
import { takeInVerb } from '../../src/verbs/take-in.ts';
import { batchOf, makeHome } from '../support/cli.ts';

const { signal } = new AbortController();
const token = (name: string) => ({ name, accounts: [{ name, uid: null }], noted: name });
const [ada, bola] = [token('ada'), token('bola')];

async function opened() {
  const home = await makeHome({}, { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const log = createLogger({ quiet: true });
  const app = await openApp('whole', { config: loaded.config, log, kind: 'serve' });
  onTestFinished(() => app.close());
  return { home, app, parts: { ...app, signal } };
}

it('takes in, approves, sends and reconciles for people with tokens; who dropped a file may not approve it', async () => {
  const { home, app, parts } = await opened();
  const files = [home.put('pay.csv', batchOf(3))];
  expect(await takeInVerb.run(parts, { files, dryRun: true }, ada)).toMatchObject({
    taken: [{ kind: 'dry_run', checked: { ok: true, rows: 3 } }],
  });
  const took = await takeInVerb.run(parts, { files, dryRun: false }, ada);
  const [first] = took.kind === 'taken_in' ? took.taken : [];
  const batch = first?.kind === 'taken' ? first.batch : '';

  expect(await reviewApproval(app, batch, ada)).toMatchObject({ kind: 'refused', why: { kind: 'own' } });
  expect(await submitVerb.run(parts, {}, ada), 'it is held').toMatchObject({
    sent: { ended: 'not_started' },
  });
  const review = await reviewApproval(app, batch, bola);
  const digest = review.kind === 'may' ? review.shown.digest : '';
  expect(await approveVerb.run(app, { batch, digest }, bola)).toMatchObject({ kind: 'approved' });

  const said: [string, number][] = [];
  const sent = await submitVerb.run(
    { ...parts, onStart: (n) => said.push(['ready', n]), onSent: (n) => said.push(['sent', n]) },
    {},
    bola,
  );
  expect(sent).toMatchObject({ kind: 'submitted', sent: { ended: 'drained' }, unwritten: null });
  expect(sent.kind === 'submitted' && [...sent.sentFrom]).toEqual([batch]);
  expect(said[0]).toEqual(['ready', 3]);
  expect(said.slice(1).reduce((sum, [, n]) => sum + n, 0)).toBe(3);

  await home.sandbox.settleAll();
  const order = { full: true, followUp: true };
  const done = reconcileVerb.run(parts, order, bola);
  expect(await reconcileVerb.run(parts, order, ada)).toEqual({
    kind: 'refused',
    why: { kind: 'reconciling' },
  });
  expect(await done).toMatchObject({ run: { complete: true, matched: 3, verdict: 'reconciled' } });
  expect(await app.jobsStore.find('reconcile_full')).toMatchObject({ kind: 'succeeded', runner: null });
});

it('refuses the figures of one file where the inbox has two', async () => {
  const { home, parts } = await opened();
  for (const name of ['a.csv', 'b.csv']) home.put(`data/inbox/${name}`, batchOf(2));
  const order = { figures: { rows: 2 }, dryRun: false };
  expect(await takeInVerb.run(parts, order, ada)).toMatchObject({
    kind: 'refused',
    why: { kind: 'not_one_file', waiting: [{ name: 'a.csv' }, { name: 'b.csv' }] },
  });
});
