import { once } from 'node:events';
import type { Socket } from 'node:net';
import { dial, publicKey, requestBytes, sign } from '../support/receiver.ts';

const connections = 128;

/** One delivery as it goes over the wire, signed beforehand. */
export type Event = { reference: string; bytes: Buffer };

/** Events as the service sends them, about the payouts `PREFIX-1` and on, of which each is another one. */
export function events(count: number, prefix: string): Event[] {
  const merchantsignature = sign(publicKey);
  return Array.from({ length: count }, (_, at) => {
    const reference = `${prefix}-${at + 1}`;
    const money = {
      currency: 'NGN',
      amount: '100.00',
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
    const event = { status: '00', event: 'payout', ...money, ...names, trx: `TRX${prefix}${at}`, reference };
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
    const headers = { ...extra, merchantsignature, authorization: null };
    return { reference, bytes: requestBytes(body, { headers }) };
  });
}

/** Delivers as fast as it is answered; returns the seconds that all took. */
export async function deliverAll(port: number, all: readonly Event[]): Promise<number> {
  const sockets = await open(port);
  const began = performance.now();
  let next = 0;
  await Promise.all(
    sockets.map(async (socket) => {
      for (let event = all[next++]; event; event = all[next++]) await deliver(socket, event);
    }),
  );
  for (const socket of sockets) socket.destroy();
  return (performance.now() - began) / 1000;
}

/** Delivers until the receiver is gone, and calls `onDelivered` for each answer; returns what was acknowledged. */
export async function deliverUntilGone(
  port: number,
  all: readonly Event[],
  onDelivered: (acknowledged: number) => void,
): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  let next = 0;
  const sockets = await open(port);
  await Promise.all(
    sockets.map(async (socket) => {
      const gone = once(socket, 'close').then(() => 'gone' as const);
      // A half-open connection would wait for ever.
      socket.on('end', () => socket.destroy());
      for (let event = all[next++]; event; event = all[next++]) {
        const answer = await Promise.race([deliver(socket, event), gone]).catch(() => 'gone' as const);
        if (answer === 'gone') return;
        acknowledged.add(event.reference);
        onDelivered(acknowledged.size);
      }
    }),
  );
  for (const socket of sockets) socket.destroy();
  return acknowledged;
}

/**
 * Delivers so many a second whatever the answers take; returns the times from when each was due, sorted, in ms. The first
 * delivery of each connection is not counted: it waits until the receiver has accepted all of them, made at once.
 */
export async function deliverEvenly(
  port: number,
  all: readonly Event[],
  perSecond: number,
): Promise<number[]> {
  const free = await open(port);
  const sockets = [...free];
  const firsts = events(sockets.length, 'FIRST');
  const greet = async (socket: Socket, at: number): Promise<void> => {
    const event = firsts[at];
    if (event) await deliver(socket, event);
  };
  await Promise.all(sockets.map(greet));
  const began = performance.now();
  const dueAt = (at: number): number => began + (at * 1000) / perSecond;
  const times: number[] = [];
  let sent = 0;
  const pump = (): void => {
    while (sent < all.length && dueAt(sent) <= performance.now() && free.length > 0) {
      const [event, due, socket] = [all[sent], dueAt(sent), free.pop()];
      if (!event || !socket) return;
      sent += 1;
      void deliver(socket, event).then(() => {
        times.push(performance.now() - due);
        free.push(socket);
        pump();
      });
    }
  };
  while (times.length < all.length) {
    pump();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (const socket of sockets) socket.destroy();
  return times.toSorted((a, b) => a - b);
}

function open(port: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: connections }, () => dial(port)));
}

async function deliver(socket: Socket, { bytes }: Event): Promise<'answered'> {
  socket.write(bytes);
  let reply = '';
  while (!reply.includes('success')) {
    const [data]: Buffer[] = await once(socket, 'data');
    reply += data?.toString('latin1') ?? '';
    if (!reply.startsWith('HTTP/1.1 200 ')) throw new Error(`the receiver answered ${reply}`);
  }
  return 'answered';
}
