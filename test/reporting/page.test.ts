import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { haltRow } from '../../src/sending/halts.sql.ts';
import { busyMonth, hostile } from './busy-month.ts';
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
} from './support.ts';

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
/** What a reader sees of a section, without the markup. */
const words = (html: string, id: string): string =>
  (new RegExp(`<section id="${id}".*?</section>`, 's').exec(html)?.[0] ?? '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('report.html', () => {
  it('says in a sentence what is empty, and draws nothing', async () => {
    await addRun(world.ledger);
    const html = await page();
    expect(html.includes('<svg')).toBe(false);
    expect(words(html, 'action')).toContain('Nothing is open');
    expect(words(html, 'statement')).toContain('Nothing was sent, and the service lists nothing');
    for (const [id, none] of [
      ['money', 'No payouts were taken in yet.'],
      ['ageing', 'No open discrepancy is known.'],
      ['days', 'Nothing was sent or settled in the last 31 days.'],
      ['failures', 'Nothing failed'],
      ['banks', 'No bank had a failure'],
      ['fees', 'there were no fees'],
      ['speed', 'Nothing sent in the last 31 days has settled yet.'],
    ] as const)
      expect(words(html, id)).toContain(none);
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
    for (let n = 0; n < 45; n++)
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
    const cards = [...html.matchAll(/<article.*?<\/article>/gs)].map(([card]) =>
      card.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '),
    );
    expect(cards).toHaveLength(40);
    expect(cards[0]).toContain('High : Paid twice D-twice');
    expect(cards[0], 'what the service calls it, as far as it is known').toContain(
      'Reference SAL-1 Transfer id 771 Who',
    );
    expect(cards[1]).toContain('Do not pay it another way before 2026-11-22 13:02 +01:00.');
    expect(cards[1]).toContain('Who Ada Obi, account 0123456789, bank 058');
    expect(cards[1]).toContain('How much NGN 100.00');
    expect(cards[1]).toContain('How old 3 days, since 2026-11-18 14:05 +01:00');
    expect(cards[1]).toContain('Command counterfoil show SAL-1');
    expect(words(html, 'action')).toContain('47 discrepancies open.');
    expect(words(html, 'action')).toContain('… and 7 more in discrepancies.csv');
    expect(words(html, 'action')).toContain('1 discrepancy more acknowledged');
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
      /Sending is halted Since 2026-11-21 14:05 \+01:00: the service answered 13 \(&#60;balance&#62;\) to SAL-1\. When the cause is gone: counterfoil release --mode/,
    );
    expect(words(html, 'action')).toContain('counterfoil release --mode');
    expect(words(html, 'action')).toContain('not proven complete page 3 failed');
    const alien = JSON.stringify({ run: runId, complete: true, trouble: 'the list shows none of ours' });
    await world.ledger.db.updateTable('runs').set({ summary: alien, list_standing: 'not_ours' }).execute();
    expect(words(await page(), 'action'), 'and with a whole list that proves nothing').toContain(
      'may be another account’s the list shows none of ours',
    );
    expect(words(html, 'webhooks')).toContain('2 webhooks of 8 did not come (25.0 of 100).');
  });

  it('P35: gives each currency its verdict, and names what is paid here and failed there first', async () => {
    await addRun(world.ledger);
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { payout_id: 1n, status: 'failed' });
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'pending'], { currency: 'ZAR' });
    await addListed(world.ledger, 'R2', { payout_id: 2n, currency: 'ZAR', status: 'pending' });
    const html = await page();
    expect(words(html, 'statement')).toContain(
      'NGN ✗ Exceptions: 1 payout reported as paid is failed on the service’s list; 1 not explained, NGN −100.00.',
    );
    expect(words(html, 'action')).toContain('Reported as paid, failed at the service: 1 payout in NGN.');
    expect(words(html, 'statement')).toContain('statement-rows.csv names each row and why.');
    expect(words(html, 'statement')).toContain('ZAR ✓ Reconciled.');
    expect(words(html, 'statement')).not.toContain('276');
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
      /21 Nov 2026, 14:00 .*▲ NGN: exceptions .*Needs a person: ▲ 1 high ● 1 low/,
    );
    expect(words(html, 'runs')).toContain('▲ NGN exceptions ▲ 1 high ● 1 low ✓ complete');
    expect(words(html, 'batches')).toMatch(
      /b-20261121-000001 b\.csv · 21 Nov 2026, 13:00 1 NGN 200\.00 NGN 100\.00 50% 1 unknown ▲ exceptions 2 open/,
    );
    expect(words(html, 'batches')).toMatch(/quiet .* ○ nothing sent/);
  });

  it('calls a batch reconciled only while the last run stated it as it is, and nothing differs', async () => {
    const verdict = async (): Promise<string> => {
      const html = readFileSync(await world.reporting.writeIndex(), 'utf8');
      return /[✓○▲] [a-z ]+(?= Downloads)/.exec(words(html, 'batches'))?.[0] ?? '';
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
    await world.reporting.freezeRun(later, cut);
    expect(await verdict()).toBe('○ not compared');
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
