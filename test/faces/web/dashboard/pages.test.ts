import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createJobsStore } from '../../../../src/core/runtime/jobs.sql.ts';
import { halt } from '../../../../src/sending/halts.sql.ts';
import { recordRejections } from '../../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../../support/ledger.ts';
import { addDiscrepancy, addRun, addUnapproved, startDashboard } from './support.ts';

it('says at one look that sending is halted and why, what waits, and what is open', async () => {
  const { ledger, ask } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2', 'A-3']);
  const [claim] = await claimAt(ledger, at(1));
  if (claim) await recordOutcome(ledger, at(2), claim, replies.unknown());
  await addDiscrepancy(ledger, { kind: 'paid_twice', payoutId: 1n, reference: 'A-1' });
  const cause = { kind: 'account', code: '10', message: 'insufficient balance', reference: 'A-1' } as const;
  await ledger.write((trx) => halt(trx, cause, at(3)));
  const { status, body } = await ask('/');
  expect(status).toBe(200);
  const text = textOf(body);
  expect(text).toContain('■ Sending is halted');
  expect(text).toContain('the service answered 10 (insufficient balance) to A-1. 2 payouts wait.');
  expect(text).toMatch(/Waiting 2 NGN 3,000\.00/);
  expect(text).toMatch(/Unknown 1 NGN 1,500\.00/);
  expect(text).toContain('unknown: may be paid; do not pay another way');
  expect(text).toContain('Paid twice');
  expect(text).toContain('Last verdict not checked');
  expect(text).toContain('b-1');
});

it('never says that all is fine before something was compared with the service', async () => {
  const { ask } = await startDashboard();
  const { body } = await ask('/');
  expect(textOf(body)).toContain('Nothing was compared with the service yet');
  expect(textOf(body)).toContain('Discrepancies are not checked');
  expect(body).not.toContain('state is-good');
  expect(textOf((await ask('/discrepancies')).body)).toContain('Not checked');
});

it('says that everything is fine after a reconciled run, and names what is wrong with the machinery', async () => {
  const fine = await startDashboard();
  await addRun(fine.ledger, 'reconciled');
  expect(textOf((await fine.ask('/')).body)).toContain('✓ Everything is fine Sending is on.');
  const off = await startDashboard({ submit: '' });
  await addRun(off.ledger, 'reconciled');
  expect(textOf((await off.ask('/')).body)).toContain('Sending by schedule is off');
  const problems = [{ check: 'queue', problem: 'the inline queue is paused', fix: 'resume it' }];
  const stuck = await startDashboard({ problems });
  await addRun(stuck.ledger, 'reconciled');
  const text = textOf((await stuck.ask('/')).body);
  expect(text).toContain('▲ 1 thing needs a person');
  expect(text).toContain('the inline queue is paused: resume it');
  expect(text).toContain('Queue ■ trouble');
});

it('is not green while a batch is held that is older than those on the page', async () => {
  const { ledger, ask } = await startDashboard();
  await addRun(ledger, 'reconciled');
  await addBatch(ledger, ['HELD-1'], { id: 'forgotten', state: 'held' });
  for (let n = 0; n < 31; n++) await addBatch(ledger, [`NEW-${n}`], { id: `new-${n}`, state: 'pending' });
  await ledger.db
    .updateTable('batches')
    .set({ created_at: at(-1) })
    .where('id', '=', 'forgotten')
    .execute();
  const text = textOf((await ask('/')).body);
  expect(text).toContain('▲ 1 thing needs a person');
  expect(text).toContain('forgotten is held');
});

it.each(['exceptions', 'not_compared'] as const)(
  'shows the verdict %s, and never in green',
  async (verdict) => {
    const { ledger, ask } = await startDashboard();
    await addRun(ledger, verdict);
    const { body } = await ask('/');
    expect(textOf(body)).toContain('1 thing needs a person');
    expect(
      textOf(body).split(verdict.replace('_', ' ')),
      'in the tile, and where it needs a person',
    ).toHaveLength(3);
    expect(textOf(body), 'no empty columns beside the words').not.toContain('How many');
    expect(body).toContain('<a href="/runs/20261121T100000Z">');
    expect(textOf(body)).toContain(`NGN ${verdict === 'exceptions' ? '✗ exceptions' : '○ not compared'}`);
    expect(body).not.toContain('state is-good');
    const run = textOf((await ask('/runs/20261121T100000Z')).body);
    expect(run).toContain(verdict.replace('_', ' '));
    expect(textOf((await ask('/runs')).body)).toContain(
      `NGN ${verdict === 'exceptions' ? '✗ exceptions' : '○ not compared'}`,
    );
  },
);

it('names a comparison that failed once, whatever runs it, and other jobs beside it', async () => {
  const late = (job: string) => ({
    check: 'schedules',
    job,
    problem: `the last run of ${job} failed`,
    fix: 'look',
  });
  const problems = ['reconcile', 'reconcile_full', 'intake'].map(late);
  const { ledger, ask } = await startDashboard({ problems });
  await addRun(ledger, 'not_compared');
  const store = createJobsStore(ledger);
  for (const job of ['reconcile', 'reconcile_full']) {
    await store.note(job, { at: at(1), by: 'w-1', expression: null });
    await store.finished(job, { startedAt: at(1), endedAt: at(2), kind: 'incomplete', result: {} });
  }
  const text = textOf((await ask('/')).body);
  expect(text).toContain('2 things need a person');
  expect(text).toMatch(
    /The last reconciliation, [^:]+:\d\d: ○ not compared\. The operator’s doctor finds the cause\. Look/,
  );
  expect(text).toContain('the last run of intake failed: look');
  expect(text).not.toContain('the last run of reconcile');
});

it('says since when a schedule is overdue, and shows no cron expression', async () => {
  const { ledger, ask } = await startDashboard();
  const store = createJobsStore(ledger);
  await store.note('reconcile', { at: at(1), by: 'w-1', expression: '0 2 * * *' });
  await store.finished('reconcile', { startedAt: at(1), endedAt: at(2), kind: 'succeeded', result: {} });
  const text = textOf((await ask('/')).body);
  expect(text).toMatch(/reconcile is overdue since \d+ \w+(?: \d{4})? 02:00:/);
  expect(text).not.toContain('* *');
  expect(text, 'no role of the desk decides it').not.toContain('for you');
});

it('says how many webhooks were turned away, once there are any', async () => {
  const { ledger, ask } = await startDashboard();
  expect(textOf((await ask('/')).body)).not.toContain('turned away');
  const forged = { path: '/webhooks/test', kind: 'signature_wrong' } as const;
  const one = { ...forged, at: at(1), detail: '', address: '192.0.2.7' };
  await ledger.write((trx) => recordRejections(trx, [one], [{ ...forged, count: 99 }]));
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(textOf((await ask('/')).body)).toContain('100 turned away');
});

it('shows a batch with its progress and why it is held, and the story of a payout', async () => {
  const { ledger, as, ask } = await startDashboard();
  await addUnapproved(ledger, ['A-1', 'A-2']);
  const batch = textOf((await ask('/batches/b-1')).body);
  expect(batch).toContain('waits for approval');
  expect(batch).toContain('needs an approval (submission.approval is always)');
  expect(batch).toContain('0 of 2 ended');
  expect(batch).toContain('NGN 3,000.00');
  expect(textOf((await ask('/batches/b-1?state=success')).body)).not.toContain('A-1');
  expect(textOf((await ask('/batches')).body)).toContain('b-1');
  const story = textOf((await as('ada', '/payouts/a-1')).body);
  for (const part of ['A-1', 'ADA OBI', '0123456789', 'NGN 1,500.00', 'taken in', 'Dropped by ada'])
    expect(story).toContain(part);
});

it('finds a payout whatever the case of its reference, and a batch by the beginning of its name', async () => {
  const { ledger, ask } = await startDashboard();
  await addBatch(ledger, ['PAY-1'], { id: 'november-20261121-3f9a1c' });
  const found = async (wanted: string): Promise<string | number> => {
    const answer = await ask(`/find?q=${encodeURIComponent(wanted)}`);
    return answer.headers.location ?? answer.status;
  };
  expect(await found(' pay-1 ')).toBe('/payouts/PAY-1');
  expect(await found('november')).toBe('/batches/november-20261121-3f9a1c');
  expect(await found('%')).toBe('/payouts?q=%25');
  expect(await found('')).toBe('/payouts?q=');
});

describe('the page of a payout', () => {
  const factsOf = (body: string): string => textOf(body).split(' What happened ')[0] ?? '';

  it('is a receipt: who paid whom, the fee in its currency, and days with their year', async () => {
    const { ledger, as } = await startDashboard();
    const paid = { state: 'success' as const, fee: '53.75', transfer_id: '77', trx: 'TRX-9' };
    const times = { submitted_at: '2026-11-21T08:00:00.000Z', settled_at: '2026-11-21T08:01:00.000Z' };
    await addBatch(ledger, ['A-1'], { ...paid, ...times, sender_name: 'Savanna Textiles Ltd' });
    await addBatch(ledger, ['B-1'], { id: 'b-2' });
    const facts = factsOf((await as('ada', '/payouts/A-1')).body);
    expect(facts).toMatch(
      /From Savanna Textiles Ltd To ADA OBI .* Transfer id 77 Reference \(trx\) TRX-9 Fee NGN 53\.75/,
    );
    expect(facts).toMatch(/Sent 21 Nov 2026 09:00 Paid 21 Nov 2026 09:01/);
    expect(facts).not.toContain('Message');
    expect(factsOf((await as('ada', '/payouts/B-1')).body)).not.toMatch(/Transfer|Fee|Message/);
  });

  it('tells once what repeated itself, how often, and until when', async () => {
    const { ledger, as } = await startDashboard();
    const [id] = await addBatch(ledger, ['A-1'], { state: 'unknown' });
    for (const day of ['22', '23', '24'])
      await sql`insert into inquiries (payout_id, kind, reason, due_at, rung, answered_at, outcome)
        values (${id}, 'details', 'unsettled', ${`2026-11-${day}T08:00:00.000Z`}, 1, ${`2026-11-${day}T08:00:00.000Z`}, 'not_found')`.execute(
        ledger.db,
      );
    const text = textOf((await as('ada', '/payouts/A-1')).body);
    expect(text.match(/the service does not know it/g)).toHaveLength(1);
    expect(text).toMatch(/does not know it; 3 times, the last 24 Nov 09:00:00/);
  });

  it.each([
    ['unknown', 0],
    ['failed', 1],
    ['success', 0],
  ] as const)('of one that is %s has %i order that stands out', async (state, count) => {
    const { ledger, as } = await startDashboard();
    await addBatch(ledger, ['A-1'], { state });
    const main = /<main.*<\/main>/s.exec((await as('ada', '/payouts/A-1')).body)?.[0] ?? '';
    expect([...main.matchAll(/class="go"/g)]).toHaveLength(count);
    expect(main).toContain(state === 'failed' ? 'Pay it again…' : 'Ask for its webhook again');
  });
});

describe('the list of payouts', () => {
  const seen = (body: string): string[] =>
    [...body.matchAll(/href="\/payouts\/([A-Z0-9-]+)"/g)].map(([, one = '']) => one);

  async function withPayouts() {
    const dashboard = await startDashboard();
    const { ledger } = dashboard;
    const ada = { account_name: 'Ada 100% Obi', account_number: '0123456789', bank_code: '058' };
    await addBatch(ledger, ['SAL-1', 'SAL-2'], { id: 'november', ...ada });
    const other = { account_name: 'Bola Musa', account_number: '9876543210', bank_code: '044' };
    await addBatch(ledger, ['BON-1'], {
      id: 'bonus',
      ...other,
      transfer_id: '77',
      trx: 'TRX-9',
      state: 'success',
    });
    return dashboard;
  }

  it.each([
    ['', ['BON-1', 'SAL-2', 'SAL-1']],
    ['q=sal', ['SAL-2', 'SAL-1']],
    ['q=9876543210', ['BON-1']],
    ['q=77', ['BON-1']],
    ['q=TRX-9', ['BON-1']],
    ['q=obi', ['SAL-2', 'SAL-1']],
    ['q=ada%20100%25', ['SAL-2', 'SAL-1']],
    ['q=_', []],
    ['state=success', ['BON-1']],
    ['bank=058&batch=november', ['SAL-2', 'SAL-1']],
    ['batch=VEMB', ['SAL-2', 'SAL-1']],
    ['currency=zar', []],
    ['amount=1.00&q=sal-1', []],
  ])('shows for %s what matches', async (query, wanted) => {
    const { as } = await withPayouts();
    const { status, body } = await as('ada', `/payouts?${query}`);
    expect([status, seen(body)]).toEqual([200, wanted]);
  });

  it('says where a file is that became no batch, to a person who looks for its name', async () => {
    const { as } = await withPayouts();
    const found = await as('ada', '/payouts?q=suppliers-november');
    expect(textOf(found.body)).toContain('A file that waits or was refused is among the Files.');
    expect((await as('ada', '/payouts?q=SAL-1')).body).not.toContain('was refused is among');
  });

  it('offers the batches that a part of a name may mean, and keeps the other fields', async () => {
    const { as } = await withPayouts();
    const { body } = await as('ada', '/payouts?batch=bo&state=success');
    expect(seen(body)).toEqual(['BON-1']);
    const choice = (await as('ada', '/payouts?batch=n&state=success')).body;
    expect(choice).toContain('Which batch?');
    for (const batch of ['november', 'bonus']) expect(choice).toContain(`batch=${batch}"`);
  });

  it('says plainly that the service gave no reason for a failure', async () => {
    const { ledger, as } = await startDashboard();
    await addBatch(ledger, ['F-1'], { state: 'failed' });
    await addBatch(ledger, ['F-2'], { id: 'b-2', state: 'pending' });
    for (const path of ['/payouts', '/payouts/F-1', '/batches/b-1'])
      expect((await as('ada', path)).body).toContain('the service gave no reason');
    for (const path of ['/payouts/F-2', '/batches/b-2'])
      expect((await as('ada', path)).body).not.toContain('the service gave no reason');
  });

  it('has one time for what was paid, with one word', async () => {
    const { ledger, as } = await startDashboard();
    const paid = { settled_at: '2026-11-20T10:00:00.000Z', final_at: '2026-11-24T02:00:00.000Z' };
    await addBatch(ledger, ['P-1'], { state: 'success', ...paid });
    const { body } = await as('ada', '/payouts/P-1');
    expect(body).toContain('<dt>Paid</dt><dd><time datetime="2026-11-20T10:00:00.000Z">');
    expect(body).not.toContain('Settled');
    expect((await as('ada', '/payees')).body).toContain('datetime="2026-11-20T10:00:00.000Z"');
  });

  it('is a table of bank details: a reader without the right sees none of it', async () => {
    const { ask, as } = await withPayouts();
    expect((await ask('/payouts')).status).toBe(401);
    const csv = await as('ada', '/payouts?format=csv&q=bon');
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.body).toContain('BON-1');
    expect(csv.body).not.toContain('SAL-1');
  });

  it('turns pages, and says that a day is none', async () => {
    const { ledger, as } = await withPayouts();
    const names = Array.from({ length: 60 }, (_, n) => `P-${n}`);
    await addBatch(ledger, names, { id: 'large' });
    const first = await as('ada', '/payouts?batch=large');
    const [, older = ''] = /href="(\/payouts\?[^"]*after=[^"]*)"/.exec(first.body) ?? [];
    const second = await as('ada', older.replaceAll('&#38;', '&'));
    expect([...seen(first.body), ...seen(second.body)]).toEqual(names.toReversed());
    expect((await as('ada', '/payouts?since=yesterday')).status).toBe(422);
    expect(seen((await as('ada', '/payouts?until=2020-01-01')).body)).toEqual([]);
  });
});

it.each(['/payouts/none', '/batches/none', '/runs/none', '/batches/none/approve', '/reports/none.csv'])(
  'answers %s with a page that says what there is not',
  async (path) => {
    const { as } = await startDashboard();
    const { status, body, headers } = await as('ada', path);
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(textOf(body)).toMatch(/There is no/);
  },
);

it('says of a run whose files are gone how to get them back, on its page and in place of a file', async () => {
  const { ledger, as } = await startDashboard();
  await addRun(ledger, 'reconciled');
  const back = 'The files of this run are not in the reports folder.';
  expect(textOf((await as('ada', '/runs/20261121T100000Z')).body), 'not finished').not.toContain(back);
  await ledger.db.updateTable('runs').set({ frozen: 1n }).execute();
  expect(textOf((await as('ada', '/runs/20261121T100000Z')).body)).toContain(back);
  const file = await as('ada', '/reports/reconciliation-20261121T100000Z/report.html');
  expect([file.status, textOf(file.body)]).toEqual([404, expect.stringContaining(back)]);
  const strange = await as('ada', '/reports/reconciliation-20250101T100000Z/report.html');
  expect([strange.status, textOf(strange.body).includes('The files of this run')]).toEqual([404, false]);
});

it('tells an open page at once that something changed', async () => {
  const { ledger, port } = await startDashboard();
  const stream = await fetch(`http://127.0.0.1:${port}/events`);
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  const versions: string[] = [];
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<void> => {
    for (;;) {
      const { value = '' } = (await reader?.read()) ?? {};
      const version = /event: version\ndata: (\S+)/.exec(value)?.[1];
      if (version !== undefined && version !== versions.at(-1)) return void versions.push(version);
    }
  };
  await next();
  await addBatch(ledger, ['A-1']);
  await next();
  expect(versions).toHaveLength(2);
  await reader?.cancel();
});

/** What a reader reads: the text of the main part, without markup. */
function textOf(body: string): string {
  const main = /<main.*<\/main>/s.exec(body)?.[0] ?? '';
  return main
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&#34;', '"')
    .replaceAll('&#38;', '&')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([:,.])/g, '$1');
}
