import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { recordRefusal } from '../../../../src/core/ledger/rejected-files.ts';
import { openLedger } from '../../../../src/custody/open-ledger.ts';
import { createDrops } from '../../../../src/faces/web/dashboard/files/drops.ts';
import { batchOf } from '../../../support/cli.ts';
import { born } from '../../../support/ledger.ts';
import { openDesk } from './desk.ts';
import { startDashboard, textOf } from './support.ts';

const good = batchOf(3, 900);
const head = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';
const bad = [
  `${head},department`,
  'S-1,0123456789,Ada Obi,058,100.00,NGN,Supplies,Acme Ltd,Sales',
  'S-2,0123456790,"Obi, Ltd",058,"1,000.5",NGN,"a ""quoted"" word",Acme Ltd,',
  'S-3,0123456791,Umeh,5,70.00,NGN,Supplies,Acme Ltd,Sales',
  '',
].join('\n');

it('drops a file, shows its check, takes it in once however often it is pressed, and refuses the content again', async () => {
  const { home, drop, ask, post, hiddenIn } = await openDesk();
  const dropped = await drop('dayo', { 'november.csv': good });
  expect([dropped.status, dropped.location]).toEqual([
    303,
    expect.stringMatching(/^\/files\/checks\/\w{6}$/),
  ]);
  const at = dropped.location;
  const page = await ask('dayo', at);
  expect(page.text).toContain('It can be taken in');
  expect(page.text).toMatch(/Total<.*NGN 5,704\.50/s);
  expect((await ask('dayo', '/files')).text).toContain('november.csv');
  expect(home.names('data/inbox')).toEqual(['collections']);
  const clicks = await Promise.all([1, 2, 3].map(() => post('dayo', `${at}/take`, hiddenIn(page.text))));
  const places = new Set(clicks.map(({ status, location }) => `${status} ${location}`));
  expect([...places]).toEqual([expect.stringMatching(/^303 \/batches\/november-/)]);
  const { batches } = await home.json(['batches'], 0);
  expect(batches).toMatchObject([{ rows: 3 }]);
  expect(home.names('data/archive')).toHaveLength(1);
  expect(readdirSync(join(home.dir, 'data/drops'))).toEqual([]);
  // Later too: the page that a second tab still shows.
  expect((await post('dayo', `${at}/take`, hiddenIn(page.text))).location).toBe(clicks[0]?.location);
  const again = await drop('ada', { 'other-name.csv': good });
  const said = await ask('ada', again.location);
  expect(said.text).toContain('Its content is in a batch already');
  expect(said.text).toContain(batches[0].batch);
  const twice = await post('ada', `${again.location}/take`, hiddenIn(said.text));
  expect([twice.status, twice.text]).toEqual([409, expect.stringContaining(batches[0].batch)]);
  expect((await home.json(['batches'], 0)).batches).toHaveLength(1);
});

it('P38: takes a file in for a later day, and refuses a day that is none', async () => {
  const { home, drop, ask, post, hiddenIn } = await openDesk();
  const { location: at } = await drop('dayo', { 'bonus.csv': good });
  const { text } = await ask('dayo', at);
  expect(textOf(text)).toContain(
    'Do not send before (optional) Empty: it goes as soon as it may. A row with a day of its own in the column pay_on keeps that day.',
  );
  const hidden = hiddenIn(text);
  const wrong = await post('dayo', `${at}/take`, { ...hidden, pay_on: '2999-01-01' });
  expect([wrong.status, wrong.text]).toEqual([409, expect.stringContaining('more than 366 days ahead')]);
  const day = new Date(Date.now() + 6 * 86_400_000).toISOString().slice(0, 10);
  expect((await post('dayo', `${at}/take`, { ...hidden, pay_on: day })).status).toBe(303);
  await home.run(['submit']);
  expect(home.sandbox.requests.posts).toBe(0);
  const { payouts } = await home.json(['payouts'], 0);
  const { payout } = await home.json(['show', payouts[0].reference], 0);
  expect(payout).toMatchObject({ state: 'ready', pay_on: day });
});

it('names a dropped file on the first page until somebody decides, with the way for those who may', async () => {
  const { drop, ask, post, take } = await openDesk();
  const { location } = await drop('dayo', { 'november.csv': good });
  const today = async (name: Parameters<typeof ask>[0]): Promise<string> => {
    // A look is at most a second old.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    return (await ask(name, '/')).text;
  };
  const waits = 'november.csv, dropped by dayo, waits for a decision: can be taken in';
  for (const name of ['dayo', 'rita'] as const) {
    const text = await today(name);
    expect(textOf(text), name).toContain(waits);
    expect(text, name).toContain(`href="${location}">Decide…</a>`);
  }
  const text = await today('femi');
  expect(textOf(text)).toContain(waits);
  expect(text).not.toContain(location);
  const { location: second } = await drop('rita', { 'other.csv': bad });
  expect(textOf(await today('rita'))).toContain('2 dropped files wait for a decision');
  await take('dayo', location);
  await post('rita', `${second}/discard`);
  expect(textOf(await today('dayo'))).not.toContain('waits for a decision');
});

it('P37: shows how a dropped file differs from last time, to those who may see what is in it', async () => {
  const { drop, ask, post, hiddenIn } = await openDesk();
  const first = await drop('dayo', { 'november.csv': good });
  await post('dayo', `${first.location}/take`, hiddenIn((await ask('dayo', first.location)).text));
  const changed = good.replaceAll(/^([A-Z]+)-/gm, 'DEC-').replace(/,\d{10},/, ',0123456785,');
  const { location } = await drop('dayo', { 'december.csv': changed });
  const page = (await ask('dayo', location)).text;
  expect(page).toMatch(/Compared with november-.*account changed 1/s);
  const row = /<caption>Changed payees.*?<tbody>(.*?)<\/tbody>/s.exec(page)?.[1] ?? '';
  for (const text of ['0123456785', 'Adaeze Okonkwo', 'account changed']) expect(row).toContain(text);
  const eve = (await ask('eve', location)).text;
  for (const text of ['0123456785', 'Adaeze Okonkwo']) expect(eve).not.toContain(text);
});

it('judges several files each by itself', async () => {
  const { drop, ask } = await openDesk();
  const { status, location } = await drop('dayo', { 'a.csv': good, 'b.csv': bad });
  expect([status, location]).toEqual([303, '/files']);
  const { text } = await ask('dayo', '/files');
  expect(text).toMatch(/a\.csv.*can be taken in/s);
  expect(text).toMatch(/b\.csv.*2 problems/s);
});

it('P37: mends bad cells in a new file, keeps both files and who changed what, and lets neither dropper nor mender approve', async () => {
  const { home, drop, ask, post, take } = await openDesk({ COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  const { location: first } = await drop('dayo', { 'suppliers.csv': bad });
  const page = (await ask('ada', first)).text;
  expect(page).toContain('aria-label="Row 3, amount"');
  const names = [...page.matchAll(/<input name="(cell-[^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(names.map(([, value]) => value)).toEqual(['1,000.5', '5']);
  const [[amount = ''] = [], [bank = ''] = []] = names;
  const fields = { [amount]: '1000.50', [bank]: '5' };
  const mended = await post('ada', `${first}/mend`, fields);
  expect(mended.location).toMatch(/^\/files\/checks\//);
  expect(mended.location).not.toBe(first);
  // The same again, as a second click does; another change comes too late.
  expect((await post('ada', `${first}/mend`, fields)).location).toBe(mended.location);
  expect((await post('ada', `${first}/mend`, { ...fields, [bank]: '044' })).status).toBe(409);
  expect((await ask('ada', mended.location)).text).toContain('1 problem');
  const whole = await post('ada', `${mended.location}/mend`, { [bank]: '058' });
  const { text } = await ask('ada', whole.location);
  expect(text).toContain('It can be taken in');
  expect(text).toContain('What was changed');
  const taken = await take('ada', whole.location);
  expect(taken.location).toMatch(/^\/batches\/suppliers-/);
  const kept = home.names('data/archive');
  expect(kept).toHaveLength(2);
  const contents = kept.map((name) => home.read(`data/archive/${name}`));
  expect(contents).toContain(bad);
  expect(contents).toContain(bad.replace('"1,000.5"', '"1000.50"').replace(/,5,/, ',058,'));
  const shown = (await ask('ada', taken.location)).text;
  expect(shown).toMatch(/Changed cells.*amount.*1,000\.5.*1000\.50.*ada.*bank_code.*058.*ada/s);
  expect(kept).toContain(/<code>([^<]+--original--[^<]+)<\/code>/.exec(shown)?.[1]);
  const list = textOf((await ask('rita', '/files')).text);
  expect(list).toMatch(/Mended, and taken in .* suppliers-\S+ ada \d+ \w+ \d\d:\d\d 2 /);
  const cells = /aria-label="Changed cells".*?<\/table>/s.exec((await ask(null, taken.location)).text)?.[0];
  expect(cells, 'an amount is no bank detail').toMatch(/amount.*1,000\.5.*1000\.50/s);
  expect(cells).toMatch(/bank_code.*hidden.*hidden/s);
  const batch = taken.location.split('/').at(-1) ?? '';
  const refused = await post('ada', `/batches/${batch}/approve`, { sure: 'yes', digest: 'x' });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('ada dropped it')]);
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  await ledger.write((trx) => trx.updateTable('batches').set({ dropped_by: 'somebody' }).execute());
  await ledger.close();
  const mender = await post('ada', `/batches/${batch}/approve`, { sure: 'yes', digest: 'x' });
  expect([mender.status, mender.text]).toEqual([403, expect.stringContaining('ada mended it')]);
  const byApi = await ask('ada', `/api/v1/batches/${batch}/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ digest: 'x' }),
  });
  expect([byApi.status, byApi.text]).toEqual([403, expect.stringContaining('ada mended it')]);
  const dropper = await home.run(['approve', batch, '--yes'], { SUDO_UID: '4242', SUDO_USER: 'dayo' });
  expect(dropper.err).toContain('dayo dropped it');
});

it('names the host on which a refused file lies, and offers to mend only what lies here', async () => {
  const { home, ask } = await openDesk();
  home.put('data/inbox/here.csv', bad);
  home.put('data/inbox/there.csv', bad.replace('PAY-1', 'PAY-9'));
  await home.run(['submit', '--no-wait']);
  const button = (text: string): string[] =>
    [...text.matchAll(/<th scope="row">(\w+)\.csv was refused.*?<\/tr>/gs)].map(
      ([row, name]) => `${name}: ${/Mend it<|mend it on the desk there|Not in the folder/.exec(row)?.[0]}`,
    );
  const { text } = await ask('rita', '/files');
  expect(button(text).toSorted()).toEqual(['here: Mend it<', 'there: Mend it<']);
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  const elsewhere = { machine: 'other', place: '/srv/pay/rejected/there.csv' };
  const past = { job: 'intake', host: 'other', place: 'lagos-2:/srv/pay', last_run_at: null };
  await ledger.write(async (trx) => {
    await trx.updateTable('rejected_files').set(elsewhere).where('name', '=', 'there.csv').execute();
    await trx
      .insertInto('jobs')
      .values({ ...past, last_success_at: null, last_result: null })
      .execute();
  });
  await ledger.close();
  const shared = (await ask('rita', '/files')).text;
  expect(button(shared).toSorted()).toEqual(['here: Mend it<', 'there: mend it on the desk there']);
  expect(shared).toContain('It lies on lagos-2:/srv/pay');
  rmSync(join(home.dir, 'data/rejected/here.csv'));
  expect(button((await ask('rita', '/files')).text)).toContain('here: Not in the folder');
});

it('lists what lies in the inbox and what was refused, and mends a refused file', async () => {
  const { home, ask, post, take } = await openDesk();
  home.put('data/inbox/pay.csv', bad);
  home.put('data/inbox/notes.txt', 'x');
  await home.run(['submit', '--no-wait']);
  const { text } = await ask('rita', '/files');
  expect(text).toContain('pay.csv was refused');
  expect(text).toContain('notes.txt');
  // Beside the row stands what is wrong, and for those without the right to bank details nothing of it.
  const table = /role="region" aria-label="Problems of pay.csv".*?<\/table>/s.exec(text)?.[0] ?? '';
  for (const said of ['bank_code', 'amount', '1,000.5', 'How to mend it']) expect(table).toContain(said);
  expect((await ask('dayo', '/files')).text).not.toContain('1,000.5');
  const errors = /href="(\/files\/rejected\/\d+\/errors.csv)"/.exec(text)?.[1] ?? '';
  const file = await ask('rita', errors);
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(file.text).toContain('bank_code');
  expect((await ask('dayo', errors)).status).toBe(403);
  const mend = errors.replace('errors.csv', 'mend');
  expect((await post('dayo', mend)).status).toBe(403);
  const { location } = await post('rita', mend);
  const page = (await ask('rita', location)).text;
  const [amount = '', bank = ''] = [...page.matchAll(/name="(cell-[^"]+)"/g)].map(([, name]) => name);
  const whole = await post('rita', `${location}/mend`, { [amount]: '1000.5', [bank]: '058' });
  expect((await take('rita', whole.location)).location).toMatch(/^\/batches\/pay-/);
  expect((await ask('rita', '/files')).text).toContain('No file was refused.');
  expect((await ask('rita', '/')).text).not.toContain('was refused');
});

it('ends a file that was dropped again, with a note, for a person who may decide', async () => {
  const { home, ask, post } = await openDesk();
  home.put('data/inbox/pay.csv', good);
  await home.run(['submit', '--no-wait']);
  home.put('data/inbox/again.csv', good);
  await home.run(['submit', '--no-wait']);
  const { text } = await ask('femi', '/files');
  expect(text).toContain('again.csv was not taken in');
  const end = /action="(\/files\/rejected\/\d+\/end)"/.exec(text)?.[1] ?? '';
  expect((await post('dayo', end, { note: 'dropped twice' })).status).toBe(403);
  const form = /name="form" value="([^"]+)"/.exec(text)?.[1] ?? '';
  expect((await post('femi', end, { form, note: ' ' })).status).toBe(422);
  expect((await ask('femi', '/files')).text).toContain('again.csv');
  const done = await post('femi', end, { form, note: 'dropped twice' });
  expect([done.status, done.location]).toEqual([303, '/files']);
  expect((await ask('femi', '/files')).text).toContain('No file was refused.');
  expect((await post('femi', end, { form, note: 'dropped twice' })).status).toBe(404);
});

it('says how to drop a file that others may write, where a second person is asked for, and mends none of it', async () => {
  const { home, ask, post } = await openDesk({ COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  home.put('data/inbox/pay.csv', good);
  chmodSync(join(home.dir, 'data/inbox/pay.csv'), 0o664);
  await home.run(['submit', '--no-wait']);
  const { text } = await ask('rita', '/files');
  const errors = /href="(\/files\/rejected\/\d+\/errors.csv)"/.exec(text)?.[1] ?? '';
  expect((await ask('rita', errors)).text).toContain('others than its owner may write it (mode 0664)');
  const mend = await post('rita', errors.replace('errors.csv', 'mend'));
  expect([mend.status, mend.text]).toEqual([409, expect.stringContaining('chmod go-w')]);
});

it('never takes in a file that changed after its check', async () => {
  const { home, drop, ask, post, hiddenIn } = await openDesk();
  const { location } = await drop('dayo', { 'a.csv': good });
  const { text } = await ask('dayo', location);
  const own = readdirSync(join(home.dir, 'data/drops'))[0] ?? '';
  const path = join(home.dir, 'data/drops', own, 'a.csv');
  writeFileSync(path, batchOf(3, 999));
  const refused = await post('dayo', `${location}/take`, hiddenIn(text));
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining('the file changed after it was checked'),
  ]);
  const other = await post('dayo', `${location}/take`, { ...hiddenIn(text), digest: 'f'.repeat(64) });
  expect(other.status).toBe(409);
  expect((await home.json(['batches'], 0)).batches).toEqual([]);
  const faulty = await drop('dayo', { 'b.csv': bad });
  const cell = /name="(cell-[^"]+)"/.exec((await ask('dayo', faulty.location)).text)?.[1] ?? '';
  const place = join(home.dir, 'data/drops', `upload-${faulty.location.split('/').at(-1)}`, 'b.csv');
  writeFileSync(place, bad.replace('1,000.5', '9,000.5'));
  const mended = await post('dayo', `${faulty.location}/mend`, { [cell]: '1000.50' });
  expect([mended.status, mended.text]).toEqual([409, expect.stringContaining('Nothing was changed')]);
  expect((await post('dayo', `${location}/discard`)).location).toBe('/files');
  expect(existsSync(path)).toBe(false);
});

it('shows 10,000 bad rows quickly, a hundred at a time, and gives all in the CSV', async () => {
  const { drop, ask, post } = await openDesk();
  const rows = Array.from({ length: 10_000 }, (_, n) => `R-${n},0123456789,Ada Obi,058,x${n},NGN,Pay,Acme`);
  const { location } = await drop('dayo', { 'bad.csv': [head, ...rows, ''].join('\n') });
  const began = performance.now();
  const { text } = await ask('dayo', location);
  const took = performance.now() - began;
  expect(took).toBeLessThan(1500);
  expect(text).toContain('10,000 problems');
  expect(text.match(/<input name="cell-/g)).toHaveLength(100);
  expect(text.length).toBeLessThan(200_000);
  const next = await ask('dayo', `${location}?page=2`);
  expect(next.text).toContain('x150');
  expect(next.text).not.toContain('<input name="cell-');
  expect((await ask('dayo', `${location}?page=100`)).text).toContain('x9999');
  expect((await ask('dayo', `${location}/errors.csv`)).text.trim().split('\r\n')).toHaveLength(10_001);
  // From a page without fields, the same file is checked again.
  expect((await post('dayo', `${location}/mend`)).location).toBe(location);
});

it('gives a long way to mend once, and names its row beside the others that need it', async () => {
  const { drop, ask } = await openDesk();
  const rows = ['R-1', 'R-2', 'R-3'].map((one) => `${one},0123456789,Ada Obi,058,"1,000.50",NGN,Pay,Acme`);
  const { location } = await drop('dayo', { 'bad.csv': [head, ...rows, ''].join('\n') });
  const { text } = await ask('dayo', location);
  expect(text.match(/Format Cells/g)).toHaveLength(1);
  expect(text.match(/>as for row 2</g)).toHaveLength(2);
});

it('shows invisible characters of a cell, and writes only what a person changed', async () => {
  const { home, drop, ask, post, take } = await openDesk();
  const row = 'H-1,0123456789,Ad\u200ba Obi,058,x,NGN,"two\nlines",Acme';
  const { location } = await drop('dayo', { 'odd.csv': `\ufeff${head}\r\n${row}\r\n` });
  const { text } = await ask('dayo', location);
  const fields = Object.fromEntries(
    [...text.matchAll(/<input name="(cell-[^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  expect(Object.values(fields).toSorted()).toEqual(['Ad&#60;U+200B&#62;a Obi', 'x']);
  const mended = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === 'x' ? '12.50' : 'Ad<U+200B>a Obi']),
  );
  const first = await post('dayo', `${location}/mend`, mended);
  const seen = (await ask('dayo', first.location)).text;
  expect(seen).toContain('1 problem');
  expect(seen.match(/data-label="Became"/g)).toHaveLength(1);
  const name = Object.keys(fields).find((one) => fields[one] !== 'x') ?? '';
  const second = await post('dayo', `${first.location}/mend`, { [name]: 'Ada Obi' });
  expect((await take('dayo', second.location)).location).toMatch(/^\/batches\/odd-/);
  const kept = home.names('data/archive').map((one) => home.read(`data/archive/${one}`));
  const expected = `\ufeff${head}\r\nH-1,0123456789,Ada Obi,058,12.50,NGN,"two\nlines",Acme\r\n`;
  expect(kept).toContain(expected);
});

it('removes a file that nobody decided on for a day, and one that an upload had begun', async () => {
  const { app } = await startDashboard();
  const drops = createDrops(app, new AbortController().signal);
  const old = await drops.add(Readable.from([Buffer.from(good)]), { name: 'old.csv', by: 'ada' });
  const young = await drops.add(Readable.from([Buffer.from(good)]), { name: 'young.csv', by: 'ada' });
  const folder = join(app.config.dataDir, 'drops');
  mkdirSync(join(folder, 'upload-killed'));
  const before = app.clock.now() / 1000 - 86_401;
  utimesSync(join(folder, `upload-${old}`), before, before);
  await drops.sweep(false);
  expect(readdirSync(folder).toSorted()).toEqual([`upload-${young}`, 'upload-killed'].toSorted());
  await drops.sweep(true);
  expect(readdirSync(folder)).toEqual([`upload-${young}`]);
});

it('says of no file that it is gone which another machine may have', async () => {
  const { as, ledger } = await startDashboard({ roles: { ada: ['read', 'drop'] } });
  expect((await as('ada', '/files/checks/Ab3dEf')).body).toContain(
    'nobody decided for a day, or it was dropped on another machine',
  );
  const refusal = {
    ...{ name: 'pay.csv', problems: 1, contentHash: 'a', at: born },
    ...{ place: '/elsewhere/rejected/pay.csv', errorsFile: '/elsewhere/rejected/pay.errors.csv' },
  };
  await ledger.write((trx) => recordRefusal(trx, refusal, null));
  expect((await as('ada', '/files/rejected/1/errors.csv')).body).toContain('or another machine refused it');
});
