import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Role } from '../../../../src/core/settings/settings-schema.ts';
import { laterTable } from '../../../../src/faces/web/dashboard/later-view.ts';
import { systemClock } from '../../../support/clock.ts';
import { addBatch } from '../../../support/ledger.ts';
import { addDiscrepancy, addRun, addUnapproved, startDashboard, textOf } from './support.ts';

/** Noon in Lagos on the second day of December. */
const noon = '2026-12-02T11:00:00.000Z';

function startAt(iso: string, options: Parameters<typeof startDashboard>[0] = {}) {
  const clock = { ...systemClock(), iso: () => iso, now: () => Date.parse(iso) };
  return startDashboard({ ...options, clock });
}

type Desk = Awaited<ReturnType<typeof startDashboard>>;

/** Adds a payout that was paid then, with what became of it. */
async function addPaid(
  { ledger }: Desk,
  reference: string,
  then: string,
  returnedAt?: string,
): Promise<void> {
  const [id] = await addBatch(ledger, [reference], { id: `of-${reference}`, state: 'success' });
  const add = (seq: number, at: string, from: string, to: string) =>
    sql`insert into history (payout_id, seq, at, event, source, from_state, to_state, detail, prev_hash, hash)
      values (${id}, ${seq}, ${at}, 'looked_up', 'test', ${from}, ${to}, '{}', '', '')`.execute(ledger.db);
  await add(2, then, 'pending', 'success');
  if (returnedAt !== undefined) await add(3, returnedAt, 'success', 'returned');
}

it('says what was paid today and in this month, in days of the zone, without what came back', async () => {
  const desk = await startAt(noon);
  await addPaid(desk, 'TODAY-1', '2026-12-02T08:00:00.000Z');
  await addPaid(desk, 'TODAY-2', '2026-12-01T23:00:00.000Z');
  await addPaid(desk, 'YESTERDAY', '2026-12-01T22:59:59.999Z');
  await addPaid(desk, 'NOVEMBER', '2026-11-30T22:59:59.999Z');
  await addPaid(desk, 'BACK', '2026-12-02T08:00:00.000Z', '2026-12-02T09:00:00.000Z');
  const { body } = await desk.ask('/');
  expect(textOf(body)).toContain('Paid today 2 NGN 3,000.00 this month NGN 4,500.00');
  expect(body).toContain('<a href="/months/2026-12"><b>2</b></a>');
});

it('counts a payment as soon as it is known, and none of yesterday after midnight', async () => {
  let now = '2026-12-02T22:00:00.000Z';
  const clock = { ...systemClock(), iso: () => now, now: () => Date.parse(now) };
  const desk = await startDashboard({ clock });
  const paid = async (): Promise<string | undefined> => {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    return /Paid today .*? this month \S+(?: \S+)?/.exec(textOf((await desk.ask('/')).body))?.[0];
  };
  expect(await paid()).toContain('Paid today 0 this month nothing');
  await addPaid(desk, 'A-1', '2026-12-02T22:00:00.000Z');
  expect(await paid()).toBe('Paid today 1 NGN 1,500.00 this month NGN 1,500.00');
  now = '2026-12-02T23:00:00.000Z';
  expect(await paid()).toBe('Paid today 0 this month NGN 1,500.00');
});

it('counts what is acknowledged beside what is open, with its gravity, and each leads to its list', async () => {
  const desk = await startAt(noon);
  const { ledger, as, post } = desk;
  const [first = null, second = null] = await addBatch(ledger, ['A-1', 'A-2'], { state: 'success' });
  const foreign = await addDiscrepancy(ledger, { kind: 'paid_twice', payoutId: first, reference: 'A-1' });
  await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId: second, reference: 'A-2' });
  const { body: before } = await as('ada', '/');
  expect(before).not.toContain('acknowledged');
  expect((await post('ada', '/discrepancies/acknowledge', { id: foreign })).status).toBe(200);
  const { body } = await as('ada', '/');
  expect(textOf(body)).toMatch(/Discrepancies: 1 open , 1 acknowledged ▲ high \(1\)/);
  const listed = async (state: string): Promise<string | undefined> => {
    const address = `/discrepancies?state=${state}`;
    expect(body).toContain(`href="${address}"`);
    const list = textOf((await as('ada', address)).body);
    return ['A-1', 'A-2'].filter((one) => list.includes(one)).join();
  };
  expect([await listed('open'), await listed('acknowledged')]).toEqual(['A-2', 'A-1']);
});

it('names several of a kind in one line, and gives each its button', async () => {
  const { ledger, as } = await startAt(noon);
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await addBatch(ledger, ['B-1'], { id: 'b-2', state: 'held' });
  const { body } = await as('bola', '/');
  expect(textOf(body)).toContain('1 thing needs a person');
  expect(textOf(body)).toMatch(/2 batches wait for approval or release .* 3 .* Look/);
  expect(body).toContain('<a class="act" href="/batches/b-1/approve">Review…</a>');
});

it('gives the only one of a kind the button of the page, to those who may press it', async () => {
  const { ledger, as, ask } = await startAt(noon, { names: ['dee'], roles: { dee: ['read'] } });
  await addUnapproved(ledger, ['A-1', 'A-2']);
  const review = '<a class="go" href="/batches/b-1/approve">Review…</a>';
  expect((await as('bola', '/')).body).toContain(review);
  for (const { body } of [await ask('/'), await as('dee', '/')]) {
    expect(textOf(body)).toContain('1 thing needs a person; none is for you');
    expect(body).not.toContain('/approve');
    expect(body).toContain('<a class="btn" href="/batches/b-1">Look</a>');
  }
});

it('says of each thing for whom it is, to a person who may not decide it', async () => {
  const roles: Record<string, Role[]> = { ada: ['decide'], bola: ['approve'] };
  const { ledger, as } = await startAt(noon, { names: ['ada', 'bola'], roles });
  await addUnapproved(ledger, ['A-1']);
  await addBatch(ledger, ['B-1'], { id: 'b-2', state: 'unknown' });
  await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId: 2n, reference: 'B-1' });
  const [ada, bola] = [textOf((await as('ada', '/')).body), textOf((await as('bola', '/')).body)];
  expect(ada).toContain('3 things need a person; 2 are for you');
  expect(bola).toContain('3 things need a person; 1 is for you');
  expect(bola).toMatch(/may be paid; do not pay another way for ada .* Amount conflict for ada/);
  expect(ada).not.toContain('for ada');
});

it('offers no review of a batch to who made it, and says who may approve it', async () => {
  const names = ['bola', 'dee'];
  const roles: Record<string, Role[]> = {
    ada: ['drop', 'approve'],
    bola: ['approve'],
    dee: ['drop', 'approve'],
  };
  const { ledger, as } = await startAt(noon, { names, roles });
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await ledger.db
    .insertInto('preparers')
    .values({ batch_id: 'b-1', name: 'dee', uid: null, did: 'mended' })
    .execute();
  expect((await as('bola', '/')).body).toContain('/batches/b-1/approve">Review…</a>');
  for (const maker of ['ada', 'dee'])
    for (const path of ['/', '/batches/b-1']) {
      const { body } = await as(maker, path);
      expect(body, maker).not.toContain('/batches/b-1/approve');
      expect(textOf(body), maker).toContain('Ask bola, who may do it (role approve).');
    }
});

it('says that one more person is needed where all approvers made the batch', async () => {
  const { ledger, as } = await startAt(noon, { roles: { ada: ['drop', 'approve'], bola: ['read'] } });
  await addUnapproved(ledger, ['A-1', 'A-2']);
  for (const person of ['ada', 'bola'])
    for (const path of ['/', '/batches/b-1']) {
      const text = textOf((await as(person, path)).body);
      expect(text).toContain(
        'One more person is needed: the operator gives somebody else the role approve in admin.roles.',
      );
    }
});

it('says beside the last verdict that people decided about all of it, until the next run', async () => {
  const { ledger, as, post } = await startAt(noon);
  const [payoutId = null] = await addBatch(ledger, ['A-1']);
  await addRun(ledger, 'exceptions');
  const id = await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId, reference: 'A-1' });
  const run = '/runs/20261121T100000Z';
  const said = '1 discrepancy was decided, and none is open. The next run judges again.';
  for (const path of ['/', run]) expect(textOf((await as('ada', path)).body)).not.toContain('decided');
  await post('ada', '/discrepancies/resolve', { id, note: 'the bank corrected it' });
  for (const path of ['/', run]) expect(textOf((await as('ada', path)).body)).toContain(said);
  const { body } = await as('ada', '/');
  expect(textOf(body)).toMatch(/Last verdict NGN \S+ exceptions 21 Nov 11:00 decided since, none open/);
  expect((await as('ada', run)).body).toContain('href="/discrepancies?state=resolved"');
});

it('folds the machinery into a line while everything runs', async () => {
  const well = await startAt(noon);
  await addRun(well.ledger);
  expect((await well.ask('/')).body).toContain(
    '<summary>✓ Everything runs: webhooks, queue, ledger, disk, 4 schedules</summary>',
  );
  const problems = [{ check: 'queue', problem: 'the inline queue is paused', fix: 'resume it' }];
  const stuck = await startAt(noon, { problems });
  const { body } = await stuck.ask('/');
  expect(body).not.toContain('Everything runs');
  expect(textOf(body)).toMatch(/Machinery .* Queue ■ trouble/);
});

it('shows what goes out later beside what may go in a day', () => {
  const day = { day: '2026-12-04', currency: 'NGN', count: 20, minor: 1_053_275_425n };
  const words = (limits: [string, bigint][]): string =>
    textOf(laterTable({ ready: [day, { ...day, currency: 'ZAR' }], held: [] }, new Map(limits)).toString());
  expect(words([])).not.toContain('a day');
  expect(words([['NGN', 6_000_000_000n]])).toContain('NGN 10,532,754.25 of NGN 60,000,000.00 a day');
  expect(words([['NGN', 1_000_000_000n]])).toMatch(
    /more than NGN 10,000,000\.00 a day .* ZAR 10,532,754\.25 $/,
  );
});

it('has no column of buttons on paper', async () => {
  const { ledger, as } = await startAt(noon);
  await addUnapproved(ledger, ['A-1']);
  const { body } = await as('ada', '/');
  expect(body).toContain('<th scope="col" class="act">Next</th>');
  expect(/@media print\{[^@]*/.exec(body)?.[0]).toMatch(/\.act\{display:none\}/);
});
