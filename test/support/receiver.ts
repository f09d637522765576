import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemClock } from '../../src/core/runtime/clock.ts';
import type { Config } from '../../src/core/settings/settings.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { createReceiver, type Receiver } from '../../src/watching/webhooks/receiver.ts';
import { openNewLedger } from './new-ledger.ts';

export const secretKey = 'sk_test_vector_key';
export const publicKey = 'pk_test_1';
const webhookKey = 'hook-secret';

/** Every check is on: public key and webhook key are configured. */
export const guardedKeys = {
  secretKeys: [secretKey],
  publicKeys: [publicKey],
  encryptionKeys: [],
  webhookKeys: [webhookKey],
};
export const plainKeys = { ...guardedKeys, webhookKeys: [] };

/** As configured by default, on any free port. */
export const receiverSettings: Config['receiver'] = {
  enabled: true,
  host: '127.0.0.1',
  port: 0,
  tlsCert: '',
  tlsKey: '',
  trustProxy: [],
  allowFrom: [],
  replayWindowSeconds: 300,
  maxBodyBytes: 65_536,
};

export type Running = {
  receiver: Receiver;
  ledger: Ledger;
  url: string;
  port: number;
  /** Warnings and errors that were logged. */
  logged: string[];
  stored: bigint[];
  /** The bodies in the ledger, in their order. */
  bodies(): Promise<string[]>;
  /** Stops it; the ledger stays open until `remove`. */
  remove(): Promise<void>;
};

type Options = Partial<Omit<Parameters<typeof createReceiver>[0], 'config' | 'ledger' | 'log'>> & {
  receiver?: Partial<Config['receiver']>;
  keys?: Config['keys'];
};

/** A listening receiver on a ledger of its own in a temporary folder. */
export async function startReceiver({ receiver: over, keys, ...deps }: Options = {}): Promise<Running> {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-receiver-'));
  const clock = systemClock();
  const ledger = await openNewLedger(join(dir, 'ledger.db'), { now: clock.iso, breathes: true });
  const logged: string[] = [];
  const stored: bigint[] = [];
  const receiver = createReceiver({
    config: { mode: 'test', receiver: { ...receiverSettings, ...over }, keys: keys ?? { test: guardedKeys } },
    ledger,
    clock,
    log: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
    onStored: (ids) => void stored.push(...ids),
    ...deps,
  });
  const remove = async (): Promise<void> => {
    await receiver.close();
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  };
  const { url } = await receiver.listen().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    receiver,
    ledger,
    url,
    port: Number(new URL(url).port),
    logged,
    stored,
    async bodies() {
      const rows = await ledger.db.selectFrom('webhooks').select('body').orderBy('id').execute();
      return rows.map((row) => Buffer.from(row.body).toString());
    },
    remove,
  };
}

export function sign(message: string | Uint8Array, key = secretKey): string {
  return createHmac('sha512', key).update(message).digest('hex');
}

/** The headers that authenticate this body everywhere. */
export function proofOf(body: string | Uint8Array): Record<string, string> {
  return {
    payloadsignature: sign(body),
    merchantsignature: sign(publicKey),
    authorization: `Bearer ${webhookKey}`,
  };
}

/** A whole HTTP/1.1 request in bytes. A header whose value is null is left out. */
export function requestBytes(
  body: string | Uint8Array,
  options: { line?: string; headers?: Record<string, string | null> } = {},
): Buffer {
  const length = { host: 'receiver', 'content-length': String(Buffer.byteLength(body)) };
  const headers = Object.entries({ ...length, ...proofOf(body), ...options.headers });
  const lines = headers.flatMap(([name, value]) => (value === null ? [] : `${name}: ${value}\r\n`));
  const line = options.line ?? 'POST /webhooks/test HTTP/1.1';
  return Buffer.concat([Buffer.from(`${line}\r\n${lines.join('')}\r\n`, 'latin1'), Buffer.from(body)]);
}

/** A connection, from an address of choice: all of 127.0.0.0/8 is this machine. */
export function dial(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Writes the pieces, then ends its half; resolves with all that came back once the other side ended, or after `ms`. */
export async function exchange(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  options: { ms?: number; end?: boolean; from?: string } = {},
): Promise<string> {
  const socket = await dial(port, options.from);
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    const timer = setTimeout(done, options.ms ?? 5000);
    socket.on('data', (chunk) => void chunks.push(chunk));
    socket.on('end', done);
    socket.on('close', done);
    socket.on('error', () => undefined);
    for (const piece of pieces) socket.write(piece);
    if (options.end !== false) socket.end();
  });
}

/** The status of each reply in what came back on one connection. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
