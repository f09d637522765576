import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { batchOf, type Home, type Json } from '../support/cli.ts';
import { hurried } from '../support/clock.ts';
import { makeHome } from '../support/decided.ts';
import { kindsOf, type RunPaper, readIndexRow, readResults, readRunPaper } from '../support/paper.ts';

const count = 5;
const total = '5017.50';
const settings = {
  COUNTERFOIL_RECEIVER_ENABLED: 'false',
  COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0',
};

type Seen = { home: Home; batch: string; run: Json; paper: RunPaper; reports: string };

/** Sends five payouts, which settle. */
async function paid(more: Record<string, string> = {}): Promise<{ home: Home; batch: string }> {
  const home = await makeHome({ perPage: 2 }, { ...settings, ...more });
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(count))], 0);
  await home.sandbox.settleAll();
  return { home, batch: batches[0].batch };
}

async function reconciled(
  { home, batch }: { home: Home; batch: string },
  code: number,
  baseUrl = home.sandbox.url,
): Promise<Seen> {
  const run = await home.json(['reconcile', '--full'], code, { COUNTERFOIL_SERVICE_BASE_URL: baseUrl });
  const reports = join(home.dir, 'data/reports');
  return { home, batch, run, reports, paper: readRunPaper(reports, run.run) };
}

/** Another account at a service of its own, to which the same keys belong, with so many transfers of others. */
async function anotherAccount(home: Home, strangers: number): Promise<string> {
  const other = await createSandbox({ keys: { test: home.sandbox.keys.test }, perPage: 2 });
  onTestFinished(() => other.stop());
  for (let n = 0; n < strangers; n++) other.book.plant({ reference: `OTHER-${n}` });
  return other.url;
}

/** The service behind a gate that fails on page 2 of the list. */
async function withoutPageTwo(home: Home): Promise<string> {
  const server = createServer((asked, answer) => {
    if (/page=2\b/.test(asked.url ?? '')) {
      answer.writeHead(502, { 'retry-after': '0' }).end('bad gateway');
      return;
    }
    const { method, headers } = asked;
    const forwarded = request(new URL(asked.url ?? '', home.sandbox.url), { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    });
    asked.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = new URL(home.sandbox.url);
  url.port = String(typeof address === 'object' ? address?.port : '');
  return url.href.replace(/\/$/, '');
}

const verdictOf = ({ run, paper, reports }: Seen): Record<string, string | undefined> => ({
  json: run.statement.NGN.verdict,
  summary: paper.summary.statement.NGN?.verdict,
  csv: paper.statement.NGN?.verdict,
  page: paper.page.verdicts.NGN,
  index: readIndexRow(reports, run.run).verdicts.NGN,
});
const everywhere = (verdict: string) => ({
  json: verdict,
  summary: verdict,
  csv: verdict,
  page: verdict,
  index: verdict,
});

const nowhereToLook: Record<string, (home: Home) => string | Promise<string>> = {
  'an unreachable service': () => 'http://127.0.0.1:9',
  'an empty list': (home) => anotherAccount(home, 0),
  'the list of another account': (home) => anotherAccount(home, 3),
  'page 2 failing': (home) => withoutPageTwo(home),
};

it('P35: a list without any payout of ours marks none as missing, unless the look-ups find none either: then it says so', async () => {
  const home = await makeHome({ settleMs: 600_000 }, settings);
  await home.json(['submit', home.put('pay.csv', batchOf(count))], 0);
  for (const { id } of home.sandbox.book.transfers()) home.sandbox.book.remove(id);
  // The cut of a list has whole seconds: what was sent in its second is not missing yet (P28).
  await setTimeout(1_100);
  const first = await home.run(['reconcile', '--full']);
  expect(first.out).toMatch(/Missing at service +5 of them/);
  expect(first.out).toContain('does the key belong to this ledger’s account?\n');
  expect(first.out).not.toContain('no payouts were marked missing');
  expect(first.out).toContain('Open: 5 high; 5 opened, 0 resolved by this run. Others were not checked.');
  const second = await home.run(['reconcile', '--full']);
  expect(second.out).toContain('Open from before, and not checked: 5 high.');
});

it('discrepancies says "not checked" before the first reconciliation', async () => {
  const { home } = await paid();
  const { code, out } = await home.run(['discrepancies']);
  expect({ code, out }).toEqual({ code: 0, out: 'not checked: nothing was reconciled yet\n' });
  await reconciled({ home, batch: '' }, 0);
  expect((await home.run(['discrepancies'])).out).toBe('no open discrepancies\n');
});

it.each(Object.keys(nowhereToLook))(
  'P35: with %s nothing is compared, and nothing says that all is well',
  { timeout: 120_000 },
  async (name) => {
    const sent = await paid();
    const address = await nowhereToLook[name]?.(sent.home);
    const { home, batch } = sent;
    const printed = await hurried(() =>
      home.run(['reconcile', '--full'], {
        COUNTERFOIL_SERVICE_BASE_URL: address,
        COUNTERFOIL_RECONCILIATION_MAX_PASSES: '2',
      }),
    );
    expect(printed.code, printed.out).toBe(name === 'an unreachable service' ? 1 : 4);
    expect(printed.out).toMatch(/^ {2}NGN {2}not compared$/m);
    expect(printed.out).toContain('Nothing was checked, and no payouts were marked missing');
    const run = /reconciliation-(\w+)\/report\.html$/m.exec(printed.out)?.[1] ?? '';
    const reports = join(home.dir, 'data/reports');
    const paper = readRunPaper(reports, run);
    const seen = { ...sent, run: paper.summary, reports, paper };
    expect(verdictOf(seen)).toEqual(everywhere('not_compared'));
    const rows = [run, batch].map((name) => readIndexRow(reports, name).words);
    const words = [paper.page.words, ...rows].join(' ');
    for (const untrue of [/✓/, /\bties\b/, /Nothing is open/, /(?<!Batch )\bnone\b(?! of)/])
      expect(untrue.exec(words)?.[0], words).toBeUndefined();
    expect(paper.page.html).not.toMatch(/class="good"/);
    expect(paper.page.words).toContain('Not checked');
    expect(readIndexRow(reports, seen.run.run).words).toContain('not checked');
    expect(readIndexRow(reports, batch).words).toContain('not compared');
    const status = await home.run(['status'], { COUNTERFOIL_SERVICE_BASE_URL: address });
    expect(status.code).toBe(4);
    const open = await home.run(['discrepancies'], { COUNTERFOIL_SERVICE_BASE_URL: address });
    expect(open.out).toMatch(/(?:Others )?not checked: the last reconciliation had no list to compare with/i);
    expect(open.out).not.toContain('no open discrepancies');
    expect(status.out).toMatch(/last reconciliation .*NGN not compared/);
    expect(status.out).toContain('not checked');
    expect(status.out).not.toMatch(/Needs a person: nothing/);
  },
);

it('P35: a list that shows all of it is reconciled, and only then green', async () => {
  const seen = await reconciled(await paid(), 0);
  expect(verdictOf(seen)).toEqual(everywhere('reconciled'));
  expect(seen.run.statement).toEqual({
    NGN: {
      verdict: 'reconciled',
      unseen: { count: 0, amount: '0.00' },
      foreign: { count: 0, amount: '0.00' },
      amount_differences: { count: 0, amount: '0.00' },
      unexplained: { count: 0, amount: '0.00' },
    },
  });
  const lines = seen.paper.statement.NGN?.lines ?? {};
  expect(Object.keys(lines)).toEqual(
    'opening submitted reopened settled failed refused closing in_flight unknown returned net_paid fees listed_by_service unseen foreign amount_differences timing unexplained'.split(
      ' ',
    ),
  );
  expect(lines.net_paid).toEqual({ count: `${count}`, amount: total });
  expect(lines.listed_by_service).toEqual({ count: `${count}`, amount: total });
  expect(seen.paper.page.words).toContain('✓ NGN: reconciled');
  expect(readIndexRow(seen.reports, seen.batch).words).toMatch(/✓ reconciled/);
  const status = await seen.home.json(['status'], 0);
  expect(status.last_run).toMatchObject({
    run: seen.run.run,
    verdict: 'reconciled',
    verdicts: { NGN: 'reconciled' },
  });
});

it('P35: what the list lacks after its grace is unseen and never green; inside its grace it is timing', async () => {
  const sent = await paid();
  const [gone] = sent.home.sandbox.book.find('PAY-0001');
  sent.home.sandbox.book.remove(gone?.id ?? 0);
  const early = await reconciled({ ...sent, home: withGrace(sent.home, '15') }, 0);
  expect(early.paper.statement.NGN?.lines).toMatchObject({
    unseen: { count: '0', amount: '0.00' },
    timing: { count: '1', amount: '-1001.50' },
  });
  const late = await reconciled(sent, 4);
  expect(verdictOf(late)).toEqual(everywhere('exceptions'));
  expect(late.run.statement.NGN.unseen).toEqual({ count: 1, amount: '1001.50' });
  expect(late.paper.page.words).toContain(
    '✗ NGN: exceptions NGN 0.00 Total difference, listed less net paid In flight: 1 1,001.50 Not on the list: 1 −1,001.50',
  );
});

function withGrace(home: Home, minutes: string): Home {
  const env = { COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: minutes };
  return { ...home, json: (args, code, more) => home.json(args, code, { ...more, ...env }) };
}

it('P35: a transfer that nobody here ordered makes exceptions of its currency, and names itself', async () => {
  const sent = await paid();
  sent.home.sandbox.book.plant({ reference: 'STRANGER-1', amount: '75000.00', currency: 'NGN' });
  const seen = await reconciled(sent, 4);
  expect(verdictOf(seen)).toEqual(everywhere('exceptions'));
  expect(seen.run.statement.NGN.foreign).toEqual({ count: 1, amount: '75000.00' });
  const printed = await seen.home.run(['reconcile']);
  expect(printed.out).toMatch(/^ {2}NGN {2}exceptions {2}Not ordered here: 1 +NGN 75,000\.00$/m);
});

it('status never says that nothing needs a person where it ends with 4', async () => {
  const sent = await paid();
  sent.home.sandbox.book.plant({ reference: 'STRANGER-1', amount: '75000.00', currency: 'NGN' });
  await reconciled(sent, 4);
  await sent.home.run(['resolve', '--kind', 'missing_in_ledger', '--note', 'ours, by hand']);
  const loose = await sent.home.run(['status']);
  expect(loose.code).toBe(4);
  expect(loose.out).toContain('Needs a person: the exceptions of the last reconciliation');
  sent.home.sandbox.book.remove(sent.home.sandbox.book.find('STRANGER-1')[0]?.id ?? 0);
  await reconciled(sent, 0);
  expect((await sent.home.run(['status'])).out).toContain('Needs a person: nothing');
  await sent.home.run(['hold', '--mode']);
  const halted = await sent.home.run(['status']);
  expect(halted.code).toBe(4);
  expect(halted.out).toContain('Needs a person: the halt');
});

it.each(['abc', '', '12345678901234567890.00'])(
  'P35: an amount on the list that reads "%s" is a line of its own, never zero, and never green',
  async (amount) => {
    const sent = await paid();
    const [ours] = sent.home.sandbox.book.find('PAY-0001');
    sent.home.sandbox.book.change(ours?.id ?? 0, { amount });
    sent.home.sandbox.book.plant({ reference: 'STRANGER-1', amount, currency: 'NGN' });
    const seen = await reconciled(sent, 4);
    expect(verdictOf(seen)).toEqual(everywhere('exceptions'));
    expect(seen.run.statement.NGN.unreadable).toEqual({ count: 2 });
    const lines = seen.paper.statement.NGN?.lines ?? {};
    expect(lines.unreadable).toEqual({ count: '2', amount: '' });
    expect(lines.foreign).toEqual({ count: '0', amount: '0.00' });
    expect(lines.listed_by_service).toEqual({ count: `${count - 1}`, amount: '4016.00' });
    expect(lines.unexplained).toEqual({ count: '1', amount: '-1001.50' });
    const unread = seen.paper.rows.filter(({ line }) => line === 'unreadable');
    expect(unread.map((row) => row.amount)).toEqual(['', '']);
    const about = [...seen.paper.rows, ...seen.paper.discrepancies].filter(
      ({ reference = '', line = '' }) => reference === 'STRANGER-1' || line === 'unreadable',
    );
    expect(JSON.stringify(about)).not.toContain('"0.00"');
    expect(seen.paper.page.words).toContain('2 listed with an unreadable amount');
  },
);

it('P35: a success that the service shows as failed later is said first, in the report and in the results', async () => {
  const sent = await paid();
  const { reports } = await reconciled(sent, 0);
  expect(readResults(reports, sent.batch).map((row) => kindsOf(row.open_discrepancy))).toEqual(
    Array.from({ length: count }, () => []),
  );
  const [turned] = sent.home.sandbox.book.find('PAY-0003');
  sent.home.sandbox.book.change(turned?.id ?? 0, { status: 'failed' });
  const seen = await reconciled(sent, 4);
  expect(verdictOf(seen)).toEqual(everywhere('exceptions'));
  expect(seen.paper.page.words).toMatch(/✗ NGN: exceptions Reported as paid, failed on the list: 1/);
  const index = readFileSync(join(seen.reports, 'index.html'), 'utf8');
  expect(/NGN: exceptions.*?<\/li>/s.exec(index)?.[0]).toContain('Reported as paid, failed on the list: 1');
  expect(/<tbody class="item">.*?<\/tbody>/s.exec(seen.paper.page.html)?.[0]).toContain('PAY-0003');
  const row = readResults(seen.reports, seen.batch).find(({ reference }) => reference === 'PAY-0003');
  expect(row).toMatchObject({ payout_state: 'success', open_discrepancy: 'status_conflict' });
  expect(row?.message).not.toContain('initiated');
  expect(row?.message).toContain('expected success, found failed');
  expect(readIndexRow(seen.reports, seen.batch).words).not.toContain('✓');
});

it('results.csv puts a quote only in front of a cell, and changes no other letter of the text', async () => {
  const home = await makeHome({}, settings);
  const [head = '', row = ''] = batchOf(1).trimEnd().split('\n');
  const note = 'see A; -B, or |=1+1';
  const text = `${head},note,sum\n${row},"${note}",=1+1\n`;
  const { batches } = await home.json(['submit', home.put('pay.csv', text)], 0);
  const [written] = readResults(join(home.dir, 'data/reports'), batches[0].batch);
  expect(written).toMatchObject({ note, sum: "'=1+1" });
});
