import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { batchOf } from '../../support/cli.ts';
import { serveApi, tokenOf } from './support.ts';

const MiB = 1024 * 1024;

/** The most memory that the process has held so far, in MiB. */
function mostMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

it('takes a body of 500 MiB in flat memory', async () => {
  let pid = 0;
  const { as } = await serveApi(
    {},
    { COUNTERFOIL_INTAKE_MAX_BYTES: String(600 * MiB) },
    (home) => (args, env) => {
      const daemon = home.start(args, env);
      pid = daemon.pid;
      return daemon;
    },
  );
  const client = as('dayo');
  await client.postBatch(batchOf(2), { name: 'small.csv', check: 'true' });
  const before = mostMemory(pid);
  const piece = new Uint8Array(Buffer.from('x,y,z\n'.repeat(MiB / 6)));
  let left = 501;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(piece);
      else controller.close();
    },
  });
  // Another header than a batch has: it is received whole, then refused.
  expect(await client.postBatch(body, { name: 'large.csv', check: 'true' })).toMatchObject({
    files: [{ ok: false }],
  });
  const grown = mostMemory(pid) - before;
  console.log(`500 MiB posted: memory grew by ${Math.round(grown)} MiB from ${Math.round(before)} MiB`);
  expect(left).toBeLessThan(0);
  expect(grown).toBeLessThan(150);
}, 300_000);

it('gives up on a body that stands still, of JSON after 10 s and of a file after 30 s', async () => {
  const { port, as } = await serveApi();
  const stalled = (head: string, type: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(
          `${head} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${tokenOf(type === 'text/csv' ? 'dayo' : 'femi')}\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n{`,
        ),
      );
      let answer = '';
      socket.setEncoding('utf8').on('data', (text) => (answer += text));
      socket.on('error', () => undefined).on('close', () => resolve(answer));
    });
  const answers = await Promise.all([
    stalled('POST /api/v1/batches/x/hold', 'application/json'),
    stalled('POST /api/v1/batches?name=x.csv', 'text/csv'),
  ]);
  expect(answers.map((answer) => answer.slice(0, 12))).toEqual(['HTTP/1.1 408', 'HTTP/1.1 408']);
  expect((await as('eve').listBatches()).batches).toEqual([]);
}, 120_000);

it('ends a request that was turned away while its body drips', async () => {
  const { port } = await serveApi();
  const dripped = (type: string, authorization: string[]): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
        const head = [`Host: 127.0.0.1:${port}`, `Content-Type: ${type}`, 'Content-Length: 1000'];
        const lines = ['POST /api/v1/batches?name=x.csv HTTP/1.1', ...head, ...authorization, '', 'x'];
        socket.write(lines.join('\r\n'));
        const drip = setInterval(() => socket.write('x'), 1000);
        socket.on('close', () => clearInterval(drip));
      });
      let answer = '';
      socket.setEncoding('utf8').on('data', (text) => (answer += text));
      socket.on('error', () => undefined).on('close', () => resolve(answer.slice(0, 12)));
    });
  const answers = await Promise.all([
    dripped('text/csv', []),
    dripped('application/json', []),
    dripped('text/csv', [`Authorization: Bearer ${tokenOf('eve')}`]),
  ]);
  expect(answers).toEqual(['HTTP/1.1 401', 'HTTP/1.1 401', 'HTTP/1.1 403']);
}, 40_000);
