import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHeartbeat, createWebhook } from '../../../src/faces/alerts/http-channel.ts';
import { createMail } from '../../../src/faces/alerts/mail-channel.ts';
import { startMail, startWeb } from './setting.ts';

const wording = {
  title: 'Counterfoil test: sending is halted',
  text: 'first line\n\nsecond <!channel> & <https://x|y>',
};
const message = { wording, id: 'ledger.1', signal: new AbortController().signal };
const from = 'pay@example.com';
const to = ['ops@example.com', 'finance@example.com'];

describe('the webhook', () => {
  it('posts a text in which nothing is a mark of Slack', async () => {
    const web = await startWeb();
    expect(await createWebhook(web.url)(message)).toEqual({ kind: 'sent' });
    const [post] = web.posts;
    expect(post?.method).toBe('POST');
    expect(post?.url).toBe('/services/T0/B0/s3cretPath');
    expect(post?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(post?.body ?? '')).toEqual({
      text: 'first line\n\nsecond &lt;!channel&gt; &amp; &lt;https://x|y&gt;',
      mrkdwn: false,
      link_names: false,
    });
  });

  it('follows no redirect', async () => {
    const web = await startWeb();
    const inside = await startWeb();
    web.answers.push({ status: 307, headers: { location: inside.url } });
    expect(await createWebhook(web.url)(message)).toMatchObject({ kind: 'failed', problem: 'http_307' });
    expect(inside.posts).toEqual([]);
  });

  it('reads an answer without end no further than it must', async () => {
    const web = await startWeb();
    web.answers.push({ status: 200, body: 'x'.repeat(50_000_000) });
    expect(await createWebhook(web.url)(message)).toEqual({ kind: 'sent' });
  });

  it.each([
    ['120', 120_000],
    ['999999999', 3_600_000],
    ['soon', 0],
    ['-5', 0],
  ])('reads Retry-After %s as %d ms', async (header, retryAfterMs) => {
    const web = await startWeb();
    web.answers.push({ status: 429, headers: { 'retry-after': header } });
    expect(await createWebhook(web.url)(message)).toEqual({
      kind: 'failed',
      problem: 'http_429',
      retryAfterMs,
    });
  });

  it('names a refused connection by its code, never the address', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const result = await createWebhook(`http://127.0.0.1:${port}/s3cretPath`)(message);
    expect(result).toEqual({ kind: 'failed', problem: 'ECONNREFUSED', retryAfterMs: 0 });
  });

  it('trusts no certificate that nobody has signed', async () => {
    const tls = (name: string): Buffer =>
      readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url));
    const asked: string[] = [];
    const server = createHttps(
      { cert: tls('stranger.cert.pem'), key: tls('stranger.key.pem') },
      (request, response) => {
        asked.push(request.url ?? '');
        response.end('ok');
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const result = await createWebhook(`https://127.0.0.1:${port}/`)(message);
    expect(result).toMatchObject({
      kind: 'failed',
      problem: expect.stringMatching(/CERT|SIGNATURE|ALTNAME/),
    });
    expect(asked).toEqual([]);
  });
});

describe('the heartbeat', () => {
  it('asks with GET, and says nothing', async () => {
    const web = await startWeb();
    expect(await createHeartbeat(web.url)(message)).toEqual({ kind: 'sent' });
    expect(web.posts).toMatchObject([{ method: 'GET', body: '' }]);
  });
});

describe('the mail', () => {
  it('reaches a real server with sender, recipients, subject and text', async () => {
    const { url, mails } = await startMail();
    const send = createMail({ url, password: 'mail-pass-word', from, to });
    expect(await send(message)).toEqual({ kind: 'sent' });
    expect(mails).toMatchObject([{ from, to }]);
    expect(mails[0]?.raw).toContain('Subject: Counterfoil test: sending is halted\r\n');
    expect(mails[0]?.raw).toContain('Message-ID: <ledger.1@counterfoil.invalid>');
    expect(mails[0]?.raw).toContain('second <!channel> & <https://x|y>');
  });

  it('lets no line break of a title become a header', async () => {
    const { url, mails } = await startMail();
    const send = createMail({ url, password: 'mail-pass-word', from, to });
    const title = 'halted\r\nBcc: thief@example.com\r\n\r\nbody';
    expect(await send({ ...message, wording: { ...wording, title } })).toEqual({ kind: 'sent' });
    expect(mails[0]?.to).toEqual(to);
    expect(mails[0]?.raw).not.toMatch(/^Bcc:/m);
  });

  it('names a wrong password and a refusal by their codes', async () => {
    const { url, refuse } = await startMail();
    expect(await createMail({ url, password: 'wrong', from, to })(message)).toMatchObject({
      problem: 'smtp_535',
    });
    refuse.push(451);
    const send = createMail({ url, password: 'mail-pass-word', from, to });
    expect(await send(message)).toMatchObject({ problem: 'smtp_451' });
  });

  it('stops when told to, although the server says nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 50);
    const send = createMail({ url: `smtp://127.0.0.1:${port}`, password: undefined, from, to });
    expect(await send({ ...message, signal: stopping.signal })).toMatchObject({ problem: 'stopped' });
  });

  it('gives no mail to another machine that speaks no TLS', async () => {
    const { url, mails } = await startMail();
    // This machine, by an address that is not loopback.
    const elsewhere = url.replace('127.0.0.1', '0.0.0.0');
    const send = createMail({ url: elsewhere, password: 'mail-pass-word', from, to });
    expect(await send(message)).toEqual({ kind: 'failed', problem: 'smtp_500', retryAfterMs: 0 });
    expect(mails).toEqual([]);
  });

  it('gives no password to a server whose certificate nobody has signed', async () => {
    const { createServer: createTls } = await import('node:tls');
    const tls = (name: string): Buffer =>
      readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url));
    const heard: string[] = [];
    const server = createTls({ cert: tls('stranger.cert.pem'), key: tls('stranger.key.pem') }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
      socket.write('220 here\r\n');
    }).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => undefined);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const send = createMail({ url: `smtps://me@127.0.0.1:${port}`, password: 'mail-pass-word', from, to });
    expect(await send(message)).toMatchObject({ kind: 'failed' });
    expect(heard).toEqual([]);
  });
});
