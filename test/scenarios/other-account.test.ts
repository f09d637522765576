import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { batchOf, csv, type Home, type Json, row } from '../support/cli.ts';
import { makeHome, stateOf } from '../support/decided.ts';
import { readRunPaper } from '../support/paper.ts';

type Elsewhere = { other: Sandbox; env: Record<string, string> };

/** Another account of the service at another address, and the settings that reach it. */
async function atAnother(work: (elsewhere: Elsewhere) => Promise<void>): Promise<void> {
  const other = await createSandbox({ settleMs: 1 });
  const keys = other.keys.test;
  const env = {
    COUNTERFOIL_SERVICE_BASE_URL: other.url,
    COUNTERFOIL_TEST_SECRET_KEY: keys.secretKey,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: keys.encryptionKey,
  };
  try {
    await work({ other, env });
  } finally {
    await other.stop();
  }
}

/** PAY-0001, which the service accepted and has not settled. */
async function accepted(): Promise<Home> {
  const home = await makeHome({ settleMs: 600_000 });
  await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0);
  return home;
}

function acceptedAs(home: Home, reference: string): ReturnType<Sandbox['book']['plant']> {
  const taken = home.sandbox.book.find(reference)[0];
  if (!taken) throw new Error(`${reference} was not taken`);
  return taken;
}

/** Somebody else's order of the same money under the same reference, with another transfer id. */
function plantSame({ other }: Elsewhere, home: Home, status: 'success' | 'failed'): void {
  const { id, reference, account_number, account_name, bank_code, amount } = acceptedAs(home, 'PAY-0001');
  while (other.book.plant().id <= id);
  other.book.plant({ reference, account_number, account_name, bank_code, amount, status });
}

async function openKinds(home: Home, env: Record<string, string> = {}): Promise<string[]> {
  const { discrepancies } = await home.json(['discrepancies'], 4, env);
  const about = discrepancies.filter(({ reference }: Json) => reference === 'PAY-0001');
  return about.map(({ kind }: Json) => kind);
}

for (const status of ['success', 'failed'] as const)
  it(`P31: another account's ${status} transfer under our reference does not end a pending payout`, async () => {
    const home = await accepted();
    await atAnother(async (elsewhere) => {
      plantSame(elsewhere, home, status);
      const run = await home.json(['reconcile', '--full'], 4, elsewhere.env);
      expect(run.list).toBe('shows_none');
      const { payout } = await home.json(['show', 'PAY-0001'], 0);
      expect(payout).toMatchObject({ state: 'pending', evidence: 'response' });
      expect(await openKinds(home)).toEqual(['reference_collision']);
    });
    // Its own account tells how it ended.
    home.sandbox.book.change(acceptedAs(home, 'PAY-0001').id, { status: 'failed' });
    await home.run(['reconcile', '--full']);
    expect(await stateOf(home, 'PAY-0001')).toBe('failed');
  });

it('P31: a look-up at another account does not end a payout either', async () => {
  const home = await accepted();
  await atAnother(async (elsewhere) => {
    plantSame(elsewhere, home, 'success');
    await home.json(['retry', 'PAY-0001'], 2, elsewhere.env);
    expect(await stateOf(home, 'PAY-0001')).toBe('pending');
  });
});

it("P31: another account's transfer with the same number is not counted as ours, and ours is not called missing", async () => {
  const home = await accepted();
  await atAnother(async ({ other, env }) => {
    const { id } = acceptedAs(home, 'PAY-0001');
    let planted = other.book.plant({ amount: '7.00' });
    while (planted.id < id) planted = other.book.plant({ amount: '7.00' });
    expect(planted.id).toBe(id);
    const run = await home.json(['reconcile', '--full'], 4, env);
    expect(run).toMatchObject({ matched: 0, list: expect.stringMatching(/not_ours|shows_none/) });
    expect(await stateOf(home, 'PAY-0001')).toBe('pending');
    expect(await openKinds(home)).toEqual([]);
  });
});

it('P31: what one account lacks of another is not missing, though it shows payouts of its own', async () => {
  const home = await accepted();
  await atAnother(async ({ env }) => {
    await home.json(['submit', home.put('more.csv', csv(row(2)))], 0, env);
    const soon = { ...env, COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0' };
    const run = await home.json(['reconcile', '--full'], 4, soon);
    expect(run).toMatchObject({ list: 'complete', lookups: 1 });
    expect(run.discrepancies.open).toEqual({});
  });
});

it('P25, P32: an adopted ledger whose account is closed sends to another one only after a person has said so', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  await home.run(['reconcile', '--full']);
  await home.json(['submit', home.put('lost.csv', csv(row(3))), '--no-wait'], 0);
  await home.json(['restore', '--adopt', '--yes'], 4);
  await atAnother(async ({ other, env }) => {
    const note = ['release', '--mode', '--note', 'account closed by letter of 3 May'];
    const early = await home.json(note, 4, env);
    expect(early.halted.cause, 'no list of it was read yet').toContain('reconcile --full');
    // A transfer of somebody else, so that the list can be read and shows none of ours.
    other.book.plant({ reference: 'WHO-1' });
    await other.settleAll();
    expect((await home.json(['reconcile', '--full'], 4, env)).list).toBe('not_ours');
    await home.json(['submit', home.put('new.csv', csv(row(4)))], 4, env);
    expect(other.requests.posts).toBe(0);
    const status = await home.run(['status'], env);
    expect(status.out).toContain('counterfoil release --mode --evidence');
    const bare = await home.json(['release', '--mode'], 4, env);
    expect(bare.halted.cause).toContain('--note');
    const vain = await home.run(['release', '--mode'], env);
    expect(vain.out).toContain('Nothing was lifted.');
    expect(vain.out, 'it is halted').not.toContain('was not halted');
    expect(await home.json([...note, '--evidence', bare.evidence], 0, env)).toMatchObject({ halted: null });
    await home.json(['submit'], 4, env);
    expect(other.requests.bodies('PAY-0004'), 'new batches go').toBe(1);
    expect(other.requests.posts, 'and nothing else').toBe(1);
    const again = JSON.stringify(await home.json(['retry', 'PAY-0003'], 2, env));
    expect(again, 'it may have gone to the closed account').toContain('the earlier attempt went to');
    expect(await stateOf(home, 'PAY-0003')).toBe('unknown');
    await home.json(
      ['settle', 'PAY-0003', '--as', 'not-paid', '--note', 'the bank says so', '--yes'],
      0,
      env,
    );
    expect(other.requests.posts, 'closing sends nothing').toBe(1);
  });
});

it('P25: no note lifts the barrier of an adopted ledger whose own account was not read, or shows a payout of it', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  await home.run(['reconcile', '--full']);
  await home.json(['restore', '--adopt', '--yes'], 4);
  const note = ['release', '--mode', '--note', 'I am sure'];
  expect((await home.json(note, 4)).halted.cause).toContain('reconcile --full');
  await atAnother(async ({ other, env }) => {
    other.book.plant({ reference: 'WHO-1' });
    await other.settleAll();
    await home.json(['reconcile', '--full'], 4, env);
    expect((await home.json(note, 4)).halted, 'the list of another account says nothing here').not.toBeNull();
  });
  await home.run(['reconcile', '--full']);
  expect((await home.json(['status'], 0)).halted).toBeNull();
});

it('P25, P31: the unproven list of another account allows no note here', async () => {
  const home = await makeHome({}, { COUNTERFOIL_RECONCILIATION_MAX_PASSES: '2' });
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.json(['restore', '--adopt', '--yes'], 4);
  const note = ['release', '--mode', '--note', 'I am sure'];
  await atAnother(async ({ other, env }) => {
    other.book.plant({ reference: 'WHO-1', created_at: '2027-11-24T12:00:00.000000Z' });
    expect((await home.json(['reconcile', '--full'], 4, env)).list).toBe('incomplete');
    const { evidence } = await home.json(['release', '--mode'], 4, env);
    note.push('--evidence', evidence);
    expect((await home.json(note, 4)).waived).toBe(false);
    expect((await home.json(note, 0, env)).waived, 'but it does where it was read').toBe(true);
  });
});

it("P15, P31: another account's transfer under our reference is not matched, in the run, the statement or payouts.csv", async () => {
  const home = await accepted();
  await atAnother(async (elsewhere) => {
    const { other, env } = elsewhere;
    await home.json(['submit', home.put('more.csv', csv(row(2)))], 0, env);
    plantSame(elsewhere, home, 'success');
    await other.settleAll();
    const soon = { ...env, COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0' };
    const run = await home.json(['reconcile', '--full'], 4, soon);
    expect(await openKinds(home, soon)).toContain('reference_collision');
    expect(run).toMatchObject({ list: 'complete', matched: 1 });
    expect(run.statement.NGN.verdict).toBe('exceptions');
    const { rows, payouts } = readRunPaper(join(home.dir, 'data/reports'), run.run);
    const about = rows.filter(({ reference }) => reference === 'PAY-0001').map(({ line }) => line);
    expect(new Set(about)).toEqual(new Set(['foreign', 'in_flight', 'unseen']));
    expect(payouts.map(({ match_state: state }) => state)).toEqual(['not_listed', 'matched']);
  });
});
