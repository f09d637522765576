import { expect, it } from 'vitest';
import { batchOf, csv, type Json, row, until } from '../support/cli.ts';
import { agree, failed, look, makeHome, sent, stateOf } from '../support/decided.ts';

it('P20: a retry of an unknown that was never taken goes out under the same reference and pays once', async () => {
  const { home } = await sent('lost_before', {}, 4);
  expect(await stateOf(home, 'PAY-0001')).toBe('unknown');
  const { evidence } = await look(home, 'PAY-0001');
  expect(evidence).toEqual([
    expect.objectContaining({
      reference: 'PAY-0001',
      state: 'unknown',
      account_number: '******0001',
      look_up: { verdict: 'not_found', asked_at: expect.any(String), answered_at: expect.any(String) },
      warning: expect.stringMatching(
        /^We cannot tell whether this was paid\. Do not pay it another way before \S+Z\. Counterfoil looks it up until then; afterwards ask the service in writing\.$/,
      ),
      can: 'again',
    }),
  ]);
  const done = await agree(home, 0, 'PAY-0001');
  expect(done.decided).toEqual([expect.objectContaining({ reference: 'PAY-0001', state: 'pending' })]);
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(2);
  expect(home.sandbox.book.transfers()).toHaveLength(1);
  const { history } = await home.json(['show', 'PAY-0001'], 0);
  const decision = history.find((entry: Json) => entry.event === 'retry');
  expect(decision).toMatchObject({ source: expect.stringMatching(/^person:/), to_state: 'ready' });
  expect(JSON.stringify(decision.detail)).toMatch(/on evidence [0-9a-f]{12}/);
  expect(home.read(`data/reports/${done.evidence[0].batch}/results.csv`)).toContain('pending');
});

it('P20: a retry of an unknown that the service did take sends nothing, because the look-up finds it (exit 0)', async () => {
  const { home } = await sent('lost_answer', {}, 4);
  await home.sandbox.settleAll();
  const told = await home.run(['retry', 'PAY-0001']);
  expect(told).toMatchObject({ code: 0, err: expect.not.stringContaining('nothing was done') });
  expect(told.out).toMatch(/^PAY-0001 is paid: the service shows it\. Nothing needs sending again\.\n/);
  expect(told.out, 'the look-up just made').toMatch(/ {2}look-up {4}\d+ \w+ \d\d:\d\d {2}found it paid/);
  expect(told.out).toMatch(/ {2}retry {6}is not needed: it is paid/);
  const { evidence_digest, nothing_needed, decided } = await home.json(['retry', 'PAY-0001'], 0);
  expect({ nothing_needed, decided }).toMatchObject({ nothing_needed: [{ state: 'success' }], decided: [] });
  await home.json(['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest], 0);
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(1);
  expect(home.sandbox.book.transfers()).toHaveLength(1);
});

it('P20: the question that finds an unknown failed is the witness that its successor needs', async () => {
  const { home } = await sent('lost_answer', {}, 4);
  home.sandbox.book.change(home.sandbox.book.find('PAY-0001')[0]?.id ?? 0, { status: 'failed' });
  const first = await look(home, 'PAY-0001');
  expect(first.evidence[0]).toMatchObject({
    state: 'failed',
    can: 'successor',
    look_up: { verdict: 'failed' },
  });
  expect((await look(home, 'PAY-0001')).evidence_digest, 'the same facts').toBe(first.evidence_digest);
  expect((await agree(home, 0, 'PAY-0001')).decided[0]).toMatchObject({ reference: 'PAY-0001-R2' });
});

it('P4: a listing from before the last attempt is shown as one that says nothing of it', async () => {
  const { home } = await sent('lost_before', {}, 4);
  await home.json(['reconcile', '--full'], 4);
  const before = (await home.run(['retry', 'PAY-0001'])).out;
  expect(before).toMatch(/listing {4}run \S+ \(.*\) does not show it\n/);
  const [shown] = (await look(home, 'PAY-0001')).evidence;
  expect(shown).toMatchObject({ listing: { statuses: [] }, listed_since: [], look_alikes: [] });
  expect(before).toContain('unknown: the connection broke before an answer came (UND_ERR_SOCKET other side');
  await agree(home, 0, 'PAY-0001');
  const { out } = await home.run(['retry', 'PAY-0001']);
  expect(out).toMatch(/^PAY-0001 is paid: the service shows it\. Nothing needs sending again\.\n/);
  expect(out).toMatch(
    /listing {4}run \S+ .* is older than the last attempt that may have been made: says nothing/,
  );
});

it('P20: a failed payout is paid again once, by a successor under a new reference', async () => {
  const { home, batch } = await failed();
  const done = await agree(home, 0, 'PAY-0001');
  expect(done.decided).toEqual([
    expect.objectContaining({ reference: 'PAY-0001-R2', pays_again: 'PAY-0001', state: 'pending' }),
  ]);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const told = await home.json(['show', 'PAY-0001'], 0);
  expect(told).toMatchObject({
    payout: { state: 'failed', successor: 'PAY-0001-R2', predecessor: null },
  });
  const story = (await home.run(['show', 'PAY-0001'])).out;
  expect(story).toMatch(/\n {2}\d+ \w+ \S+ {3}ordered again as PAY-0001-R2, decided by .* {3}\[by .*\]\n/);
  expect(story).toMatch(/What now\n {2}what became of it: counterfoil show PAY-0001-R2\n/);
  expect(story).not.toContain('counterfoil retry');
  expect(story).toMatch(/PAY-0001 .* failed\n[\s\S]*accepted → pending: Transfer initiated/);
  const next = await home.json(['show', 'PAY-0001-R2'], 0);
  expect(next).toMatchObject({ payout: { state: 'success', predecessor: 'PAY-0001' } });
  expect(next.history[0]).toMatchObject({ event: 'intake', detail: { successor_of: 'PAY-0001' } });
  const lines = home.read(`data/reports/${batch}/results.csv`).trim().split('\r\n');
  expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual(['PAY-0001', 'PAY-0001-R2']);
  const second = await look(home, 'PAY-0001');
  expect(second.error).toMatch(/PAY-0001-R2 already pays it/);
  const paid = home.sandbox.book.transfers().filter(({ status }) => status === 'success');
  expect(paid.map(({ reference }) => reference)).toEqual(['PAY-0001-R2']);
});

it('P20: a refused payout gets a successor without a look-up that finds it; a successor that fails gets the next', async () => {
  const { home } = await sent('refuse_24');
  expect(await stateOf(home, 'PAY-0001')).toBe('refused');
  home.sandbox.faults.set('PAY-0001-R2', 'fail');
  await agree(home, 0, 'PAY-0001');
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const done = await agree(home, 0, 'PAY-0001-R2');
  expect(done.decided[0]).toMatchObject({ reference: 'PAY-0001-R3', pays_again: 'PAY-0001-R2' });
});

it('P20: a failed payout is not paid again when the service says by now that it was paid', async () => {
  const { home } = await failed();
  home.sandbox.book.change(home.sandbox.book.find('PAY-0001')[0]?.id ?? 0, { status: 'success' });
  const shown = await look(home, 'PAY-0001');
  expect(shown.error).toMatch(/the service/);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P20: a failure that rests on a person’s word alone is not paid again', async () => {
  const { home } = await sent('lost_before', {}, 4);
  await home.json(['settle', 'PAY-0001', '--as', 'not-paid', '--note', 'they said so', '--yes'], 0);
  const shown = await look(home, 'PAY-0001');
  expect(shown.evidence[0]).toMatchObject({ state: 'failed', can: 'no', look_up: { verdict: 'not_found' } });
  expect(shown.error).toMatch(/only a person has said that it failed; the service has not confirmed it/);
  expect(shown.error).toMatch(/pay it under a new reference in a new file\./);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P20: --yes without --evidence, a stale digest and no terminal each exit 2, show the evidence and change nothing', async () => {
  const { home } = await sent('lost_before', {}, 4);
  const bare = await home.run(['retry', 'PAY-0001']);
  expect(bare.code).toBe(2);
  expect(bare.out).toMatch(
    /WARNING {4}We cannot tell whether this was paid\. Do not pay it another way before \d+ \w+ \d\d:\d\d/,
  );
  expect(bare.out).not.toContain('1000000001');
  const digest = /evidence digest {2}([0-9a-f]{12})/.exec(bare.out)?.[1] ?? '';
  const yes = await home.run(['retry', 'PAY-0001', '--yes']);
  expect(yes.code).toBe(2);
  expect(yes.err).toContain(`counterfoil retry PAY-0001 --yes --evidence ${digest}`);
  const stale = await home.json(['retry', 'PAY-0001', '--yes', '--evidence', '000000000000'], 2);
  expect(stale.error).toMatch(/the evidence changed; look again/);
  expect(stale.evidence_digest).toBe(digest);
  expect(await stateOf(home, 'PAY-0001')).toBe('unknown');
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P20: of two people who retry at once exactly one decides, and one successor is paid', async () => {
  const { home } = await failed();
  const { evidence_digest } = await look(home, 'PAY-0001');
  const args = ['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest];
  const [a, b] = await Promise.all([home.start(args).done, home.start(args).done]);
  expect(new Set([a.code, b.code])).toEqual(new Set([0, 2]));
  expect(a.code === 2 ? a.err : b.err).toMatch(/the evidence changed|already pays it/);
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(1);
  expect(home.sandbox.requests.posts).toBe(2);
});

it('P20: of two people who retry an unknown at once exactly one decides', async () => {
  const { home } = await sent('lost_before', {}, 4);
  const { evidence_digest } = await look(home, 'PAY-0001');
  const args = ['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest];
  const [a, b] = await Promise.all([home.run(args), home.run(args)]);
  expect(new Set([a.code, b.code])).toEqual(new Set([0, 2]));
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(2);
  expect(home.sandbox.book.transfers()).toHaveLength(1);
});

it('P20: a retry obeys hold, halt and --no-wait: it is decided and waits', async () => {
  const { home, batch } = await failed();
  await home.json(['hold', batch], 0);
  const { evidence_digest } = await look(home, 'PAY-0001');
  const said = await home.run(['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest]);
  expect(said).toMatchObject({ code: 4, out: expect.stringContaining(`counterfoil release ${batch}`) });
  expect(await stateOf(home, 'PAY-0001-R2')).toBe('held');
  await home.json(['hold', '--mode'], 0);
  await home.json(['release', batch], 4);
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(1);
  await home.json(['release', '--mode'], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(2);
  const other = await sent('refuse_24');
  await other.home.json(['hold', '--mode'], 0);
  const halted = await agree(other.home, 4, 'PAY-0001');
  expect(halted.waits).toMatch(/sending is halted.*counterfoil release --mode/);
  expect(await stateOf(other.home, 'PAY-0001-R2')).toBe('ready');
});

it('P20: a successor above payout_limit holds its batch, as the row of a file does', async () => {
  const { home, batch } = await sent('refuse_24');
  const limit = { COUNTERFOIL_SUBMISSION_PAYOUT_LIMIT: '{"NGN":"1000.00"}' };
  const shown = await home.json(['retry', 'PAY-0001'], 2, limit);
  const args = ['retry', 'PAY-0001', '--yes', '--evidence', shown.evidence_digest];
  expect((await home.json(args, 4, limit)).decided[0]).toMatchObject({ state: 'held' });
  const again = await home.run(['retry', 'PAY-0001-R2']);
  expect(again.err, 'what the service says may be what keeps it').toMatch(
    /asking the service about 1 payout/,
  );
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('counterfoil release') });
  const told = await home.run(['submit'], limit);
  expect(told.out).toMatch(/held: 1 above submission\.payout_limit: row 2 \(NGN 1,001\.50\)/);
  await home.json(['release', batch], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(1);
});

it('P20: --batch takes every payout of a state, and what cannot be retried is named while the rest goes (exit 3)', async () => {
  const home = await makeHome({
    faults: { 'PAY-0001': 'refuse_24', 'PAY-0003': 'refuse_24', 'PAY-0004': 'refuse_24' },
  });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(4))], 0)).batches[0];
  const shown = await look(home, 'PAY-0003');
  await home.json(['retry', 'PAY-0003', '--no-wait', '--yes', '--evidence', shown.evidence_digest], 0);
  const mixed = await agree(home, 3, 'PAY-0001', 'PAY-0002', 'PAY-0003');
  expect(mixed.refused).toEqual([
    { reference: 'PAY-0003', why: expect.stringMatching(/PAY-0003-R2 already pays it/) },
  ]);
  expect(mixed.nothing_needed).toEqual([
    expect.objectContaining({
      reference: 'PAY-0002',
      text: expect.stringMatching(/^PAY-0002 is paid: /),
    }),
  ]);
  const rest = await agree(home, 0, '--batch', batch, '--state', 'refused');
  expect(rest.decided.map((one: Json) => one.reference)).toEqual(['PAY-0004-R2']);
  await home.json(['submit'], 0);
  await home.json(['retry', '--batch', batch, '--state', 'refused'], 2);
  await home.json(['retry', 'PAY-9999'], 2);
  expect((await home.json(['status'], 0)).batches[0].payouts).toEqual({
    waits_again: 3,
    pending: 3,
    success: 1,
  });
});

it('P20: a retry while its batch is being sent decides once and loses or doubles nothing', async () => {
  const home = await makeHome(
    { latencyMs: 50, faults: { 'PAY-0001': 'lost_before' } },
    { COUNTERFOIL_SERVICE_CONCURRENCY: '1' },
  );
  const sending = home.begin(['submit', home.put('pay.csv', batchOf(30))]);
  await until(
    10_000,
    () => home.sandbox.requests.posts,
    (n) => n > 3,
  );
  const { evidence_digest } = await look(home, 'PAY-0001');
  const args = ['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest];
  const codes = (await Promise.all([home.run(args), home.run(args)])).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set([0, 2]));
  expect((await sending.done).code).not.toBe(1);
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(2);
  expect(home.sandbox.book.transfers()).toHaveLength(30);
  // On a slow machine the second retry asks after the first one has paid, and its look-up makes that payout final.
  const { pending, success = 0, ...others } = (await home.json(['status'], 0)).payouts;
  expect([pending + success, others]).toEqual([30, {}]);
});

it('P20: live mode without --live records the decision and sends nothing', async () => {
  const keys = { secretKey: 'sk_live_1', publicKey: 'pk_live_1', encryptionKey: 'enc_live_1' };
  const home = await makeHome(
    { keys: { live: keys }, faults: { 'PAY-0001': 'refuse_24' } },
    {
      COUNTERFOIL_MODE: 'live',
      COUNTERFOIL_LIVE_SECRET_KEY: keys.secretKey,
      COUNTERFOIL_LIVE_ENCRYPTION_KEY: keys.encryptionKey,
    },
  );
  await home.json(['submit', home.put('pay.csv', csv(row(1))), '--live', '--yes'], 0);
  const told = await agree(home, 4, 'PAY-0001');
  expect(told.decided).toEqual([expect.objectContaining({ reference: 'PAY-0001-R2', state: 'ready' })]);
  expect(told.waits).toMatch(/mode is live and --live was not said.*counterfoil submit --live sends it/);
  expect(home.sandbox.requests.posts).toBe(1);
  await home.json(['submit', '--live', '--yes'], 0);
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(1);
});

it('P20: a retry that ends unknown again exits 4, and a typing slip among the names stops everything', async () => {
  const { home } = await sent('refuse_24');
  home.sandbox.faults.set('PAY-0001-R2', 'lost_before');
  const slip = await home.run(['retry', 'PAY-0001', 'PAY-000l']);
  expect(slip).toMatchObject({ code: 2, err: expect.stringContaining('no payout "PAY-000l"') });
  expect((await agree(home, 4, 'PAY-0001')).decided[0]).toMatchObject({ state: 'unknown' });
  const told = await home.run(['show', 'PAY-0001-R2']);
  expect(told.out).toMatch(
    /We cannot tell whether this was paid\. Do not pay it another way before \d+ \w+ \d\d:\d\d/,
  );
  expect(told.out).toMatch(/pays PAY-0001 again/);
  expect((await home.run(['show', 'PAY-0001'])).out).toMatch(
    /again as PAY-0001-R2, decided by .* on evidence/,
  );
});

it('P20: a payout that shows as paid after its successor was sent is reported as paid twice', async () => {
  const { home } = await sent('refuse_24', { COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  await agree(home, 0, 'PAY-0001');
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const [paid] = home.sandbox.book.find('PAY-0001-R2');
  home.sandbox.book.plant({ ...paid, reference: 'PAY-0001' });
  const { discrepancies } = await home.json(['reconcile'], 4);
  expect(discrepancies.open).toMatchObject({ paid_twice: 1 });
  expect((await home.json(['reconcile'], 4)).discrepancies.open).toMatchObject({ paid_twice: 1 });
});
