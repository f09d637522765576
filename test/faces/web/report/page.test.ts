import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { haltRow } from '../../../../src/sending/halts.sql.ts';
import { busyMonth, hostile } from '../../../books/busy-month.ts';
import {
  addBatch,
  addDiscrepancy,
  addListed,
  addPayout,
  addRun,
  cut,
  makeWorld,
  runId,
  type World,
} from '../../../books/support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

async function page(): Promise<string> {
  await world.reporting.freezeRun(runId, cut);
  await world.reporting.writeRun(runId);
  return readFileSync(join(world.reports, `reconciliation-${runId}`, 'report.html'), 'utf8');
}
/** What a reader sees, without the markup. */
const plain = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
/** What a reader sees of a section, or of a figure and the lines that stand for it. */
const words = (html: string, id: string): string => {
  const parts = new RegExp(
    `<section id="${id}".*?</section>|<(figure|li) data-figure="${id}".*?</\\1>`,
    'gs',
  );
  return plain([...html.matchAll(parts)].map(([part]) => part).join(' '));
};
/** Each line of what to do, with its story. */
const items = (html: string): string[] =>
  [...html.matchAll(/<tbody class="item">.*?<\/tbody>/gs)].map(([item]) => plain(item));

describe('report.html', () => {
  it('says in a sentence what is empty, and draws nothing', async () => {
    await addRun(world.ledger);
    const html = await page();
    expect(html.includes('<svg')).toBe(false);
    expect(words(html, 'action')).toContain('Nothing is open');
    expect(words(html, 'statement')).toContain('Nothing was sent, and the service lists nothing');
    for (const [id, none] of [
      ['money', 'No payouts were taken in yet.'],
      ['days', 'Nothing was submitted or paid in the last 31 days.'],
      ['failures', 'Nothing failed, was refused or came back in the last 31 days.'],
    ] as const)
      expect(words(html, id)).toContain(none);
    for (const id of ['ageing', 'banks', 'fees', 'speed', 'webhooks'])
      expect(words(html, id), 'what another part says already').toBe('');
  });

  it('loads nothing, runs nothing, and shows what others wrote as text, also inside pictures', async () => {
    await busyMonth(world);
    const html = await page();
    const active = /<script|<img|<iframe|<link|(?:href|src)="https?:|<[^>]*\son\w+=|url\(|\u202e/i;
    expect(active.exec(html)?.[0]).toBeUndefined();
    expect(html.includes('&#60;/title&#62;&#60;/svg&#62;&#60;script&#62;')).toBe(true);
    expect(words(html, 'failures')).toContain('&#60;script&#62;alert(1)');
    // A reference that the service made up never stands in a command.
    expect(words(html, 'action')).toContain('counterfoil discrepancies --kind missing_in_ledger');
    expect(/<code>[^<]*rm -rf/.exec(html)?.[0]).toBeUndefined();
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(html.match(/<svg /g)?.length).toBeGreaterThan(20);
  });

  it('tells the gravest first with who, how much, how old and the command, and counts the rest', async () => {
    await addRun(world.ledger);
    const payout = await addPayout(world.ledger, 'SAL-1', ['ready', 'sending', 'unknown'], {
      account_name: 'Ada Obi',
    });
    for (let n = 0; n < 105; n++)
      await addDiscrepancy(world.ledger, `D-low-${n}`, { severity: 'low', kind: 'fee_conflict' });
    await addDiscrepancy(world.ledger, 'D-unknown', {
      kind: 'unknown_outcome',
      payout_id: payout,
      reference: 'SAL-1',
      first_seen_at: '2026-11-18T13:05:00.000Z',
      advice: JSON.stringify({ watched: { until: '2026-11-22T12:02:00.000Z', isOver: false } }),
    });
    await addDiscrepancy(world.ledger, 'D-twice', {
      kind: 'paid_twice',
      payout_id: payout,
      reference: 'SAL-1',
      transfer_id: '771',
      trx: null,
    });
    await addDiscrepancy(world.ledger, 'D-known', { state: 'acknowledged' });
    const html = await page();
    const lines = items(html);
    expect(lines).toHaveLength(100);
    expect(lines[0]).toMatch(/High Paid twice SAL-1 .* Discrepancy D-twice/);
    expect(lines[0], 'what the service calls it, as far as it is known').toContain(
      'Reference SAL-1 Transfer id 771 Beneficiary',
    );
    expect(lines[1]).toContain('Wait until 22 Nov 2026, 13:02; do not pay it another way');
    expect(lines[1]).toContain('Do not pay it another way before 22 Nov 2026, 13:02.');
    expect(lines[1]).toContain('Beneficiary Ada Obi, account 0123456789, bank 058');
    expect(lines[1]).toContain('Amount NGN 100.00');
    expect(lines[1]).toContain('Found 18 Nov 2026, 14:05, 3 days');
    expect(lines[1]).toContain('Command counterfoil show SAL-1');
    expect(words(html, 'action')).toContain('107 discrepancies open.');
    expect(words(html, 'action')).toContain('… and 7 more in discrepancies.csv');
    expect(words(html, 'action')).toContain('1 discrepancy more acknowledged');
  });

  it('groups those that differ in nothing but their payout, never a grave one or one with a difference', async () => {
    await addRun(world.ledger);
    const missing = {
      kind: 'webhook_missing',
      expected: 'a webhook',
      actual: 'none heard',
      difference: '',
    } as const;
    for (let n = 1; n <= 24; n++) {
      const payout = await addPayout(world.ledger, `W-${n}`, ['ready', 'sending', 'pending', 'success']);
      const reference = `W-${n}`;
      await addDiscrepancy(world.ledger, `D-w${n}`, {
        ...missing,
        severity: 'low',
        reference,
        payout_id: payout,
      });
      if (n <= 3) await addDiscrepancy(world.ledger, `D-g${n}`, { ...missing, severity: 'high', reference });
      if (n <= 4) await addDiscrepancy(world.ledger, `D-m${n}`, { severity: 'medium', reference });
    }
    const html = await page();
    const lines = items(html);
    expect(lines).toHaveLength(3 + 4 + 1);
    expect(lines.at(-1)).toMatch(/Low Webhook missing 24 payouts · NGN 2,400\.00 .* a webhook none heard/);
    expect(lines.at(-1)).toContain('W-1 · Ada Obi · NGN 100.00 · found 21 Nov 2026, 14:00 · D-w1');
    expect(lines.at(-1)).toContain('… and 4 more payouts in discrepancies.csv.');
    expect(lines.at(-1)).toContain('counterfoil discrepancies --kind webhook_missing');
    expect(words(html, 'action')).toContain('31 discrepancies open.');
    expect(words(html, 'action')).not.toContain('… and 0 more');
  });

  it('groups every amount, also a difference and those inside words, and keeps ids as they are', async () => {
    await addRun(world.ledger);
    await addDiscrepancy(world.ledger, 'D1', {
      kind: 'missing_at_service',
      transfer_id: '4800131',
      expected: 'pending 198750.00',
      actual: 'not listed, not found',
      difference: '-198750.00',
      evidence: 'listed under this reference: 480010 success 176300.75, 480011 success 176300.75',
    });
    await addDiscrepancy(world.ledger, 'D2', { kind: 'duplicate_at_service', difference: '1176300.75' });
    const [first, second] = items(await page());
    expect(first).toContain('pending 198,750.00 not listed, not found −198,750.00');
    expect(first).toContain('480010 success 176,300.75, 480011 success 176,300.75');
    expect(first).toContain('Transfer id 4800131');
    expect(second).toContain('+1,176,300.75');
  });

  it('says where every ordered payout is, and what is open, before anything else', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'P1', ['ready', 'sending', 'pending', 'success']);
    await addPayout(world.ledger, 'P2', ['ready', 'sending', 'pending']);
    await addPayout(world.ledger, 'P3', ['ready', 'sending', 'refused'], { amount: 123_456_789n });
    await addPayout(world.ledger, 'P4', ['ready'], { currency: 'ZAR' });
    await addDiscrepancy(world.ledger, 'D1', { payout_id: 1n, first_seen_at: '2026-11-18T13:05:00.000Z' });
    const html = await page();
    expect(words(html, 'totals').trim()).toBe(
      'Ordered 4 NGN 1,234,767.89 ZAR 100.00 Paid 1 NGN 100.00 In flight 1 NGN 100.00 Unknown 0 Failed or refused 1 NGN 1,234,567.89 Needs action 1 NGN 100.00 oldest 3 days Also ordered: 1 not sent yet (ZAR 100.00).',
    );
    const order = ['verdict', 'totals', 'action', 'statement', 'pictures', 'files'];
    const places = order.map((id) => html.indexOf(`<section id="${id}"`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(html).toContain('<h1>Reconciliation, 21 Nov 2026, 14:00</h1>');
  });

  it('calls nothing that was not checked zero, open or green', async () => {
    await addRun(world.ledger, runId, '2026-11-21T13:00:00.000Z', 'unread');
    await addPayout(world.ledger, 'P1', ['ready', 'sending', 'pending', 'success']);
    const html = await page();
    expect(words(html, 'verdict')).toContain('○ NGN: not compared');
    expect(words(html, 'totals')).toContain('Needs action not checked');
    expect(words(html, 'statement')).toContain('Not checked:');
    expect(/is-good"|class="good"/.exec(html)?.[0]).toBeUndefined();
    expect(/nothing is open|none open/i.exec(plain(html))?.[0]).toBeUndefined();
  });

  it('does not call a reconciled currency done while a discrepancy of it is open', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'P1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'P1', { payout_id: 1n });
    await addDiscrepancy(world.ledger, 'D1', { kind: 'webhook_missing', severity: 'low' });
    expect(words(await page(), 'verdict')).toContain('Not all is done: 1 discrepancy is open.');
  });

  it('draws no picture of a single day, a single reason or of nothing, and says it in a line', async () => {
    await addRun(world.ledger);
    for (const [n, end] of (['success', 'success', 'failed'] as const).entries())
      await addPayout(world.ledger, `P${n}`, ['ready', 'sending', 'pending', end], {
        submitted_at: '2026-11-21T12:01:00.000Z',
        final_at: '2026-11-21T12:03:00.000Z',
        message: 'Account closed',
        ...(end === 'success' ? { settled_at: '2026-11-21T12:03:00.000Z', fee: '10.75' } : {}),
      });
    const html = await page();
    expect(html.match(/<svg /g)).toHaveLength(1);
    expect(words(html, 'money')).toContain('Of NGN 300.00 ordered, NGN 200.00 is paid.');
    expect(words(html, 'days')).toContain(
      'Submitted 3 payouts worth NGN 300.00 and paid NGN 200.00, all on 21 Nov 2026.',
    );
    expect(words(html, 'failures')).toContain(
      '1 payout failed, refused or returned: Account closed (failed).',
    );
    expect(words(html, 'fees')).toContain('NGN 21.50 for 2 payouts.');
    expect(words(html, 'speed')).toContain('NGN: Half of 2 payouts settled within 2 min');
  });

  it('begins with a halt, and with a list that was not proven complete', async () => {
    await addRun(world.ledger);
    await world.ledger.db
      .insertInto('halts')
      .values(haltRow({ kind: 'account', code: '13', message: '<balance>', reference: 'SAL-1' }, cut))
      .execute();
    const summary = JSON.stringify({
      run: runId,
      complete: false,
      trouble: 'page 3 failed',
      webhooks: { due: 8, heard: 6 },
    });
    await world.ledger.db.updateTable('runs').set({ summary, list_standing: 'incomplete' }).execute();
    const html = await page();
    expect(words(html, 'action')).toMatch(
      /Sending is halted\. Since 21 Nov 2026, 14:05: the service answered 13 \(&#60;balance&#62;\) to SAL-1\. When the cause is gone: counterfoil release --mode/,
    );
    expect(words(html, 'action')).toContain('counterfoil release --mode');
    expect(words(html, 'verdict')).toContain('not proven complete: page 3 failed');
    expect(words(html, 'verdict')).toContain('○ Not compared');
    const alien = JSON.stringify({ run: runId, complete: true, trouble: 'the list shows none of ours' });
    await world.ledger.db.updateTable('runs').set({ summary: alien, list_standing: 'not_ours' }).execute();
    expect(words(await page(), 'verdict'), 'and with a whole list that proves nothing').toContain(
      'may be another account’s: the list shows none of ours',
    );
    expect(words(html, 'webhooks')).toContain('2 webhooks of 8 did not come (25.0%).');
  });

  it('keeps who and how much of a transfer nobody ordered when the next run can read no list', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'stranger', { account_name: 'Who Is This', amount: 7_500_000n });
    await addDiscrepancy(world.ledger, 'D1', {
      kind: 'missing_in_ledger',
      reference: 'stranger',
      transfer_id: 'T-stranger',
      batch_id: null,
    });
    const later = '20261121T150000Z';
    await addRun(world.ledger, later, '2026-11-21T15:00:00.000Z', 'unread');
    await world.reporting.freezeRun(later, cut);
    await world.reporting.writeRun(later);
    const html = readFileSync(join(world.reports, `reconciliation-${later}`, 'report.html'), 'utf8');
    expect(items(html)[0]).toMatch(/Missing in ledger stranger · NGN 75,000\.00 Who Is This/);
    expect(words(html, 'totals')).toContain('Needs action 1 NGN 75,000.00');
  });

  it('says in plain words why the service could not be reached', async () => {
    await addRun(world.ledger, runId, undefined, 'unread');
    const summary = JSON.stringify({ trouble: 'page 1: ECONNREFUSED connect ECONNREFUSED 127.0.0.1:8900' });
    await world.ledger.db.updateTable('runs').set({ summary }).execute();
    expect(words(await page(), 'verdict')).toContain(
      'could not be read: connection refused, 127.0.0.1:8900. Run counterfoil reconcile again. All reports names the last run that compared.',
    );
  });

  it('P35: gives each currency its verdict, and names what is paid here and failed there first', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { payout_id: 1n, status: 'failed' });
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'pending'], { currency: 'ZAR' });
    await addListed(world.ledger, 'R2', { payout_id: 2n, currency: 'ZAR', status: 'pending' });
    const html = await page();
    expect(words(html, 'verdict')).toContain(
      '✗ NGN: exceptions Reported as paid, failed on the list: 1 NGN −100.00 Total difference, listed less net paid Status conflicts: 1 −100.00',
    );
    expect(words(html, 'action')).toContain('Reported as paid, failed on the list: 1 payout in NGN.');
    expect(words(html, 'verdict')).toContain('Do not sign off. Each row: statement-rows.csv');
    expect(words(html, 'verdict')).toContain('✓ ZAR: reconciled');
    expect(words(html, 'statement')).not.toContain('276');
  });

  it('begins with the total difference of each currency, and the lines below it come to it', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { payout_id: 1n, amount: 9_050n });
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'pending']);
    await addListed(world.ledger, 'R2', { payout_id: 2n, status: 'pending' });
    await addListed(world.ledger, 'nobody', { amount: 1_234_567n });
    const html = await page();
    expect(words(html, 'verdict')).toContain(
      '✗ NGN: exceptions NGN 12,436.17 Total difference, listed less net paid In flight: 1 100.00',
    );
    const made = /<ul class="made">.*?<\/ul>/s.exec(html)?.[0] ?? '';
    const parts = [...made.matchAll(/class="number">([^<]+)</g)].map(([, text = '']) =>
      BigInt(text.replaceAll(/[,.]/g, '').replace('−', '-')),
    );
    expect(parts.length).toBe(3);
    expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(1_243_617n);
    expect(made.match(/<b>[^<]+<\/b>/g)).toEqual([
      '<b>Not ordered here: 1</b>',
      '<b>Amount differences: 1</b>',
    ]);
  });

  it('is still written for a run that was frozen before there were figures', async () => {
    await addRun(world.ledger);
    await page();
    await world.ledger.db
      .deleteFrom('run_rows')
      .where('sheet', 'not in', ['statement', 'discrepancies', 'payouts', 'ageing'])
      .execute();
    await world.reporting.writeRun(runId);
    const html = readFileSync(join(world.reports, `reconciliation-${runId}`, 'report.html'), 'utf8');
    expect(words(html, 'money')).toContain('made before these figures were kept');
    expect(words(html, 'action')).toContain('see discrepancies.csv');
  });
});

describe('index.html', () => {
  it('shows the state of each run and batch at a glance', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { payout_id: 1n, status: 'failed' });
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'unknown']);
    await addDiscrepancy(world.ledger, 'D1');
    await addDiscrepancy(world.ledger, 'D2', { severity: 'low' });
    await addBatch(world.ledger, 'quiet');
    await page();
    await world.reporting.writeDueBatchResults();
    const html = readFileSync(await world.reporting.writeIndex(), 'utf8');
    expect(html).toContain(`<a href="reconciliation-${runId}/report.html">21 Nov 2026, 14:00</a>`);
    expect(words(html, 'latest')).toMatch(
      /21 Nov 2026, 14:00 .*✗ NGN: exceptions .*Needs a person: ▲ 1 high ● 1 low/,
    );
    expect(words(html, 'runs')).toContain('✗ NGN exceptions ▲ 1 high ● 1 low complete');
    expect(words(html, 'batches')).toMatch(
      /b-20261121-000001 b\.csv · 21 Nov 2026, 13:00 1 NGN 200\.00 NGN 100\.00 50% 1 unknown ✗ exceptions 2 open/,
    );
    expect(words(html, 'batches')).toMatch(/quiet .* ○ nothing sent/);
  });

  it('calls a batch reconciled only while the last run stated it as it is, and nothing differs', async () => {
    const verdict = async (): Promise<string> => {
      const html = readFileSync(await world.reporting.writeIndex(), 'utf8');
      return /[✓○✗] [a-z ]+(?= Downloads)/.exec(words(html, 'batches'))?.[0] ?? '';
    };
    const payout = await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success'], {
      transfer_id: 'T-R1',
    });
    await world.ledger.db.updateTable('batches').set({ reported_version: 0n }).execute();
    expect(await verdict()).toBe('○ not compared');
    await addRun(world.ledger);
    await addListed(world.ledger, 'R1', { payout_id: payout });
    await page();
    expect(await verdict()).toBe('✓ reconciled');
    await world.ledger.db.updateTable('batches').set({ version: 7n }).execute();
    expect(await verdict()).toBe('○ changed since the last run');
    await world.ledger.db.updateTable('batches').set({ version: 0n }).execute();
    expect(await verdict()).toBe('✓ reconciled');
    const later = '20261121T150000Z';
    await addRun(world.ledger, later, '2026-11-21T15:00:00.000Z', 'incomplete');
    await addDiscrepancy(world.ledger, 'D1', { batch_id: null });
    await world.reporting.freezeRun(later, cut);
    expect(await verdict()).toBe('○ not compared');
    const html = readFileSync(await world.reporting.writeIndex(), 'utf8');
    expect(words(html, 'latest')).toContain('Needs a person: ▲ 1 high others not checked');
    expect(words(html, 'latest')).toContain('Last compared with the service’s list: 21 Nov 2026, 14:00 .');
    expect(html).toContain(`<a href="reconciliation-${runId}/report.html">21 Nov 2026, 14:00</a>.`);
  });

  it('names who approved a batch', async () => {
    await addPayout(world.ledger, 'R1', ['held']);
    const approval = { bodies: 'x', digest: 'x', through_id: 1n, row_count: 1n, totals: '{}' };
    await world.ledger.db
      .insertInto('approvals')
      .values(
        ['bola', 'chidi', 'bola'].map((approved_by) => ({
          ...approval,
          batch_id: 'b-20261121-000001',
          approved_by,
          approved_at: cut,
        })),
      )
      .execute();
    await world.ledger.db.updateTable('batches').set({ reported_version: 0n }).execute();
    const html = readFileSync(await world.reporting.writeIndex(), 'utf8');
    expect(words(html, 'batches')).toContain('approved by bola, chidi');
  });

  it('says no more than that nothing is open where the currency has exceptions', async () => {
    await addRun(world.ledger);
    const payout = await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { payout_id: payout });
    await addListed(world.ledger, 'stranger');
    await page();
    await world.ledger.db.updateTable('batches').set({ reported_version: 0n }).execute();
    const html = readFileSync(await world.reporting.writeIndex(), 'utf8');
    expect(words(html, 'batches')).toContain('○ no discrepancy open');
    expect(words(html, 'batches')).not.toContain('reconciled');
  });

  it('continues on further pages, linked both ways, when there are more than 1,000 of a kind', async () => {
    for (let n = 1; n <= 2001; n++)
      await addBatch(world.ledger, `batch-${n}`, {
        createdAt: new Date(Date.parse(cut) + n * 1000).toISOString(),
      });
    await world.ledger.db.updateTable('batches').set({ reported_version: 0n }).execute();
    const first = readFileSync(await world.reporting.writeIndex(), 'utf8');
    const file = (name: string): string => readFileSync(join(world.reports, name), 'utf8');
    expect(first).toContain('batch-2001');
    expect(first).not.toContain('batch-1001<');
    expect(first).toContain('<a href="index-2.html">Older</a>');
    expect(file('index-2.html')).toContain('<a href="index.html">Newer</a>');
    expect(file('index-3.html')).toContain('batch-1<');
    expect(file('index-3.html')).not.toContain('Older');
    expect(existsSync(join(world.reports, 'index-4.html'))).toBe(false);
  });

  it('keeps what others wrote as text', async () => {
    await addBatch(world.ledger, 'b2');
    await world.ledger.db
      .updateTable('batches')
      .set({ file_name: hostile.name, reported_version: 0n })
      .execute();
    expect(readFileSync(await world.reporting.writeIndex(), 'utf8')).not.toContain('<img src');
  });
});
