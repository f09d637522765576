import { Client, errors } from 'undici';
import { type ExchangeWatch, exchange } from './exchange.ts';
import type { Head, RequestEnd } from './http.ts';

/** One socket to the service, reopened when it closes. It carries one request at a time. */
export type Socket = {
  send(request: Head & { body?: Buffer }, watch: ExchangeWatch): Promise<RequestEnd>;
  /** Sends on the socket of the last request and on no other; undefined where that socket has closed. */
  sendAfter(request: Head, watch: ExchangeWatch): Promise<RequestEnd> | undefined;
  /** True while the socket has carried only the last request. */
  isAlone(): boolean;
  /** True once the socket ended because the service sent an answer that no request had asked for. */
  isConfused(): boolean;
  /**
   * Destroys the socket; the next request opens a new one. undici's message for an answer without a request; a test
   * makes undici produce it.
   */
  renew(): void;
  close(): Promise<void>;
};

/** undici's error for an answer without a request; a test sees it happen. */
const unaskedAnswer = 'bad response';

export function createLine(origin: string, options: Client.Options): Socket {
  let client = connect();
  /** Numbers the sockets. */
  let socket = 0;
  let carried = 0;
  let open = false;
  let confused = false;

  function connect(): Client {
    const made = new Client(origin, options);
    made.on('connect', () => {
      socket += 1;
      carried = 0;
      open = true;
      confused = false;
    });
    made.on('disconnect', (_origin, _targets, error) => {
      if (made !== client) return;
      open = false;
      confused = error instanceof errors.HTTPParserError || error.message === unaskedAnswer;
    });
    return made;
  }

  const counted = (watch: ExchangeWatch, mayCarry: () => boolean): ExchangeWatch => ({
    ...watch,
    begins() {
      if (!mayCarry()) return false;
      carried += 1;
      return watch.begins();
    },
  });

  return {
    send: (request, watch) =>
      exchange(
        client,
        request,
        counted(watch, () => true),
      ),
    sendAfter(request, watch) {
      if (!open) return undefined;
      const same = socket;
      return exchange(
        client,
        request,
        counted(watch, () => socket === same),
      );
    },
    isAlone: () => carried === 1,
    isConfused: () => confused,
    renew() {
      const old = client;
      client = connect();
      old.destroy().catch(() => undefined);
    },
    close: () => client.destroy(),
  };
}

/** A fixed number of lines; each serves one user at a time. */
export type SocketLines = {
  use<T>(work: (line: Socket) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export function createLines(count: number, make: () => Socket): SocketLines {
  const all: Socket[] = [];
  const free: Socket[] = [];
  const waiting: ((line: Socket) => void)[] = [];
  let closed = false;

  function take(): Socket | Promise<Socket> {
    const idle = free.pop();
    if (idle) return idle;
    if (all.length >= count) return new Promise((resolve) => void waiting.push(resolve));
    const line = make();
    all.push(line);
    // A line made after the close is closed too: its requests fail as on the earlier lines.
    if (closed) void line.close();
    return line;
  }

  return {
    async use(work) {
      const line = await take();
      try {
        return await work(line);
      } finally {
        const next = waiting.shift();
        if (next) next(line);
        else free.push(line);
      }
    },
    async close() {
      closed = true;
      await Promise.all(all.map((line) => line.close()));
    },
  };
}
