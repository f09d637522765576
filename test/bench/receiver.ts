import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { dial, publicKey, requestBytes, sign } from '../support/receiver.ts';
import type { Listening } from './receiver-process.ts';

const script = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));
const connections = 128;

export type ReceiverFigures = {
  rows: number;
  seconds: number;
  bareSeconds: number;
  /** At half of the rate that `seconds` stands for. */
  half: { perSecond: number; p50: number; p99: number };
};

/** Delivers `rows` events, each another one, as fast as they are answered: to ours, and to the bare HMAC server. */
export async function measureReceiver(rows: number): Promise<ReceiverFigures> {
  const bare = await withServer('bare', async (port) => {
    await deliverAll(port, events(rows, 'warm'));
    return deliverAll(port, events(rows, 'bare'));
  });
  return withServer('ours', async (port) => {
    await deliverAll(port, events(Math.min(rows, 2000), 'warm'));
    const seconds = await deliverAll(port, events(rows, 'ours'));
    const perSecond = Math.round(rows / seconds / 2);
    const times = await deliverEvenly(port, events(Math.min(rows, 5 * perSecond), 'half'), perSecond);
    const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
    return { rows, seconds, bareSeconds: bare, half: { perSecond, p50: at(0.5), p99: at(0.99) } };
  });
}

async function withServer<T>(kind: 'ours' | 'bare', work: (port: number) => Promise<T>): Promise<T> {
  const child = fork(script, [kind], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [listening]: Listening[] = await once(child, 'message');
  try {
    return await work(listening?.port ?? 0);
  } finally {
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  }
}

/** Requests as the service sends them, signed beforehand. */
function events(count: number, name: string): Buffer[] {
  const merchantsignature = sign(publicKey);
  return Array.from({ length: count }, (_, n) => {
    const reference = `BENCH-${name}-${n}`;
    const money = {
      currency: 'NGN',
      amount: '1500.00',
      fee: '25.00',
      account_number: '0123456789',
      bank_code: '000013',
    };
    const names = {
      account_name: 'ADA OBI',
      bank_name: 'A Bank',
      narration: 'November salary',
      sessionid: '',
      note: null,
    };
    const event = { status: '00', event: 'payout', ...money, ...names, trx: `TRX${name}${n}`, reference };
    const body = JSON.stringify({
      ...event,
      domain: 'test',
      statusMessage: 'success',
      timestamp: new Date().toISOString(),
    });
    const extra = {
      'content-type': 'application/json',
      timestamp: String(Date.now()),
      'x-webhook-reference': reference,
    };
    return requestBytes(body, { headers: { ...extra, merchantsignature, authorization: null } });
  });
}

async function deliverAll(port: number, requests: Buffer[]): Promise<number> {
  const sockets = await open(port);
  const began = performance.now();
  let next = 0;
  await Promise.all(
    sockets.map(async (socket) => {
      for (let at = next++; at < requests.length; at = next++) await deliver(socket, requests[at]);
    }),
  );
  for (const socket of sockets) socket.destroy();
  return (performance.now() - began) / 1000;
}

/** Delivers so many a second whatever the answers take; returns the times from when each was due, sorted, in ms. */
async function deliverEvenly(port: number, requests: Buffer[], perSecond: number): Promise<number[]> {
  const free = await open(port);
  const sockets = [...free];
  const began = performance.now();
  const times: number[] = [];
  const waiting: { request: Buffer; due: number }[] = [];
  const pump = (): void => {
    while (waiting.length > 0 && free.length > 0) {
      const one = waiting.shift();
      const socket = free.pop();
      if (!one || !socket) return;
      void deliver(socket, one.request).then(() => {
        times.push(performance.now() - one.due);
        free.push(socket);
        pump();
      });
    }
  };
  for (let at = 0; at < requests.length; ) {
    for (; at < requests.length && began + (at * 1000) / perSecond <= performance.now(); at++) {
      const request = requests[at];
      if (request) waiting.push({ request, due: began + (at * 1000) / perSecond });
    }
    pump();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (times.length < requests.length) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const socket of sockets) socket.destroy();
  return times.toSorted((a, b) => a - b);
}

function open(port: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: connections }, () => dial(port)));
}

async function deliver(socket: Socket, request: Buffer | undefined): Promise<void> {
  if (!request) return;
  socket.write(request);
  let reply = '';
  while (!reply.includes('success')) {
    const [data]: Buffer[] = await once(socket, 'data');
    reply += data?.toString('latin1') ?? '';
    if (!reply.startsWith('HTTP/1.1 200 ')) throw new Error(`the receiver answered ${reply}`);
  }
}
