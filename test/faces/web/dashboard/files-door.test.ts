import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { expect, it } from 'vitest';
import { batchOf } from '../../../support/cli.ts';
import { type PersonName, tokenOf } from '../../api/support.ts';
import { openDesk } from './desk.ts';

const good = batchOf(2, 700);
const csp = /default-src 'none'/;

it('takes a file only from a person with the right, by a form of this server and of this person', async () => {
  const { home, ask, drop, formOf, url } = await openDesk();
  const own = await formOf('dayo');
  expect((await drop('femi', { 'a.csv': good }, own)).status).toBe(403);
  expect((await drop('eve', { 'a.csv': good }, own)).status).toBe(403);
  expect((await drop('rita', { 'a.csv': good }, own)).status).toBe(403);
  expect((await drop('dayo', { 'a.csv': good }, 'forged')).status).toBe(403);
  // Without its token, a file is refused before its bytes are read.
  const body = new FormData();
  body.append('files', new Blob([good]), 'a.csv');
  expect((await ask('dayo', '/batches/new', { method: 'POST', body })).status).toBe(403);
  const sites = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const site of sites) {
    const sent = await raw(url, { ...site, authorization: `Bearer ${tokenOf('dayo')}` });
    expect(sent.status, JSON.stringify(site)).toBe(403);
  }
  expect(readdirSync(home.dir)).toContain('data');
  expect(home.names('data/drops')).toEqual([]);
  const page = await ask('femi', '/batches/new');
  expect(page.text).toContain('Ask dayo, ada or rita, who may do it (role drop).');
  expect(page.text).not.toContain('type="file"');
  expect((await ask(null, '/batches/new')).text).toContain('href="/signin"');
});

/** A post that says where it comes from, which `fetch` does not allow. */
function raw(url: string, headers: Record<string, string>): Promise<{ status: number }> {
  const text = `--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n${good}\r\n--x--\r\n`;
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/batches/new`,
      {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'multipart/form-data; boundary=x',
          'content-length': text.length,
        },
      },
      (reply) => reply.resume().on('end', () => resolve({ status: reply.statusCode ?? 0 })),
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

const names: [string, string | null][] = [
  ['../../../../etc/cron.d/pay.csv', 'pay.csv'],
  ['C:\\Users\\Ada\\pay.csv', 'pay.csv'],
  ['..\\..\\inbox\\pay.csv', 'pay.csv'],
  ['<img src=x onerror=alert(1)>.csv', '<img src=x onerror=alert(1)>.csv'],
  ['a\u202evsc.csv', 'a_vsc.csv'],
  ['a\u0007b.csv', 'a_b.csv'],
  [`${'n'.repeat(300)}.csv`, `${'n'.repeat(120)}.csv`],
  ['.hidden.csv', 'hidden.csv'],
  ['..csv', null],
  ['.csv', null],
  ['pay.xlsx', null],
  ['pay.csv.exe', null],
  ['drop.json', null],
];

it('makes the name of a file safe, and refuses what is no CSV file by its name', async () => {
  const { home, ask, drop, post } = await openDesk();
  for (const [given, kept] of names) {
    const { status, location } = await drop('dayo', { [given]: good });
    if (kept === null) {
      expect(status, given).toBe(422);
      continue;
    }
    expect(status, given).toBe(303);
    const own = readdirSync(join(home.dir, 'data/drops'));
    expect(own).toHaveLength(1);
    expect(readdirSync(join(home.dir, 'data/drops', own[0] ?? '')).toSorted()).toEqual(
      [kept, 'check.json', 'drop.json'].toSorted(),
    );
    const { text, headers } = await ask('dayo', location);
    expect(text).not.toContain('<img');
    expect(headers.get('content-security-policy')).toMatch(csp);
    await post('dayo', `${location}/discard`);
  }
  expect(statSync(join(home.dir, 'data/drops')).mode & 0o777).toBe(0o700);
  expect(home.names('data/inbox')).toEqual(['collections']);
});

it('never finds a check by another name than its own', async () => {
  const { ask } = await openDesk();
  const tries = ['..%2f..', '%2e%2e', 'upload-', '', 'abc', 'aaaaaa', '__proto__', 'drop.json', 'a%00b123'];
  for (const one of tries)
    expect((await ask('ada', `/files/checks/${one}`)).status, one).toSatisfy((status) =>
      [400, 404].includes(Number(status)),
    );
});

it('refuses a workbook, a zip, HTML and 10,000 columns by their content, and serves none of it as a page', async () => {
  const { drop, ask } = await openDesk();
  const zip = Buffer.from(zipSync({ 'xl/sheet1.xml': new Uint8Array(20_000_000) }));
  const wide = `${Array.from({ length: 10_000 }, (_, n) => `c${n}`).join(',')}\n`;
  const html = '<!doctype html><script>alert(1)</script>\n';
  const cell = `${good.split('\n')[0]}\nP-1,12<script>alert(1)</script>,Ada,058,1.00,NGN,Pay,Acme\n`;
  const said: [string | Buffer, RegExp][] = [
    [zip, /not CSV, whatever its name ends in/],
    [wide, /problem/],
    [html, /a web page or XML/],
    [cell, /12&#60;script&#62;/],
  ];
  for (const [content, words] of said) {
    const { location } = await drop('dayo', { 'a.csv': content });
    const { status, text } = await ask('dayo', location);
    expect([status, text]).toEqual([200, expect.stringMatching(words)]);
    expect(text).not.toContain('<script>alert');
    const errors = await ask('dayo', `${location}/errors.csv`);
    expect(errors.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(errors.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(errors.headers.get('x-content-type-options')).toBe('nosniff');
  }
});

/** Sends a form with one file of so many bytes, as far as the server lets it: the status, or 0 where it hung up. */
async function sendLong(url: string, form: string, bytes: number): Promise<{ status: number; sent: number }> {
  const head = [
    `--x\r\nContent-Disposition: form-data; name="form"\r\n\r\n${form}\r\n`,
    '--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n',
  ].join('');
  const authorization = `Bearer ${tokenOf('dayo')}`;
  const headers = { 'content-type': 'multipart/form-data; boundary=x', authorization };
  let sent = 0;
  const status = await new Promise<number>((resolve) => {
    const post = request(`${url}/batches/new`, { method: 'POST', headers }, (reply) => {
      resolve(reply.statusCode ?? 0);
      post.destroy();
    });
    post.on('error', () => resolve(0));
    post.write(head);
    const piece = Buffer.alloc(65_536, 97);
    const more = (): void => {
      while (!post.destroyed) {
        if (sent >= bytes) return void post.end('\r\n--x--\r\n');
        sent += piece.length;
        if (!post.write(piece)) return void post.once('drain', more);
      }
    };
    more();
  });
  return { status, sent };
}

it('refuses a file above the limit while it arrives, says so, and keeps nothing of it', async () => {
  const { home, url, formOf } = await openDesk({ COUNTERFOIL_INTAKE_MAX_BYTES: '1000000' });
  const form = await formOf('dayo');
  const before = process.memoryUsage().rss;
  expect((await sendLong(url, form, 60_000_000)).status).toBe(413);
  const endless = await sendLong(url, form, Number.POSITIVE_INFINITY);
  expect([0, 413]).toContain(endless.status);
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  expect(home.names('data/drops')).toEqual([]);
});

it('shows bank details of a dropped file to its own people and to the role read, and to nobody else', async () => {
  const { drop, ask, post } = await openDesk({
    COUNTERFOIL_ADMIN_ROLES: JSON.stringify({
      dayo: ['drop'],
      eve: ['drop'],
      rita: ['read'],
      ada: [],
      femi: [],
    }),
  });
  const lines = good.split('\n');
  const secret = '0987654321987654321012';
  const { location } = await drop('dayo', {
    'a.csv': `${lines[0]}\nP-1,${secret},Ada,058,1.00,NGN,Pay,Acme\n`,
  });
  const sees = async (name: PersonName | null): Promise<boolean> =>
    (await ask(name, location)).text.includes(secret);
  expect([await sees('dayo'), await sees('rita')]).toEqual([true, true]);
  expect([await sees('eve'), await sees('ada'), await sees(null)]).toEqual([false, false, false]);
  expect((await ask('eve', `${location}/errors.csv`)).status).toBe(403);
  for (const order of ['take', 'mend', 'discard'])
    expect((await post('eve', `${location}/${order}`)).status, order).toBe(403);
  // Who may not drop has no field to change, and no button.
  expect((await ask('rita', location)).text).not.toMatch(/<input name="cell|Take it in|Check again/);
});

it('keeps no more than 100 files that wait, and each for a day', async () => {
  const { home, drop, ask } = await openDesk();
  const folder = join(home.dir, 'data/drops');
  const { location } = await drop('dayo', { 'a.csv': good });
  expect((await ask('dayo', location)).text).toContain('Removed, if nobody decides');
  const { mkdirSync } = await import('node:fs');
  for (let n = 1; n < 100; n++) mkdirSync(join(folder, `upload-full${String(n).padStart(2, '0')}`));
  const { status, text } = await drop('dayo', { 'b.csv': good });
  expect([status, text]).toEqual([409, expect.stringContaining('100 files wait for a decision')]);
});
