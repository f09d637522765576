import type { Socket } from 'node:net';
import { ownerOf, plainAddress } from './receiver-address.ts';

/** One request on a connection, from its headers to its answer. */
export type Turn = {
  /** Counts further bytes of its body. False: there is no room for them, or the connection was dropped. */
  hold(bytes: number): boolean;
  /** Call when the body is read: from then on an answer is owed, and the connection is never dropped for another. */
  owe(): void;
  /** Call when it was answered, or its sender disconnected. */
  end(): void;
};

export type Connections = {
  /**
   * Counts a new connection and drops another for it if necessary. Rejects it when every other one is owed an answer.
   */
  admit(socket: Socket): void;
  /** Links the TLS socket to the admitted connection below it. */
  secured(socket: Socket): void;
  /** A request began on an admitted connection. */
  begin(socket: Socket): Turn;
  /** True when the last request was answered before its end: an error now only concerns the rest of it. */
  wasRefused(socket: Socket): boolean;
  /** Ends connections that wait between two requests or never sent anything. */
  endIdle(): void;
  /** Ends all connections that are owed no answer. */
  endUnread(): void;
};

export type ConnectionLimits = {
  total: number;
  /** An IPv6 /64 counts as one address. */
  perAddress: number;
  /** Bytes of incomplete bodies, over all connections. */
  heldBytes: number;
};

/**
 * `unread`: requests in flight. `owed`: requests that were read and not answered. `since`: the number of its last
 * change, counted over all connections; a smaller one has been unchanged for longer.
 */
type Entry = {
  socket: Socket;
  owner: string;
  isOpen: boolean;
  isFresh: boolean;
  isRefused: boolean;
  unread: number;
  owed: number;
  bytes: number;
  since: number;
};

/** How long a rejected connection may take to receive its answer, ms, and how many such connections may exist. */
const lingerMs = 500;
const mostLingering = 200;

/** For senders without room: the service delivers again. */
const busyReply =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 15\r\n\r\ntry again later';

/**
 * Bounds the number of open connections, in total and per address, and the bytes of incomplete bodies. A new connection
 * gets in unless every other one is owed an answer. Connections that wait between two requests are dropped first, then
 * those that have been sending the longest: slow senders cannot starve others. Beside 400 slow ones, 50 of 50 webhooks
 * were answered; Node's own `maxConnections` let in none. `isExempt` names proxies, which carry many senders.
 */
export function createConnections(deps: {
  limits: ConnectionLimits;
  isExempt(address: string): boolean;
  /** Over TLS a plain-text reply means nothing, so a connection is only cut. */
  tellsWhy: boolean;
}): Connections {
  const { limits } = deps;
  const entries = new Set<Entry>();
  const entryOf = new WeakMap<Socket, Entry>();
  const unsecured = new Map<string, Entry>();
  const sizes = new Map<string, number>();
  let heldBytes = 0;
  let changes = 0;
  let lingering = 0;

  const resize = (owner: string, by: number): void => {
    const size = (sizes.get(owner) ?? 0) + by;
    if (size > 0) sizes.set(owner, size);
    else sizes.delete(owner);
  };
  const forget = (entry: Entry): void => {
    if (!entry.isOpen) return;
    entry.isOpen = false;
    entries.delete(entry);
    resize(entry.owner, -1);
    heldBytes -= entry.bytes;
    entry.bytes = 0;
  };
  /** Closes the socket a moment later: closed with unread data, it would be reset and the reply lost. */
  const turnAway = (socket: Socket): void => {
    if (!deps.tellsWhy || lingering >= mostLingering) return void socket.destroy();
    lingering += 1;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => {
      lingering -= 1;
      clearTimeout(timer);
    });
    socket.on('error', () => socket.destroy());
    socket.end(busyReply);
  };
  const giveUp = (entry: Entry): void => {
    forget(entry);
    if (isIdle(entry)) entry.socket.destroy();
    else turnAway(entry.socket);
  };
  /** Drops the least important connection. The search is linear, but it runs only when there is no room. */
  const makeRoom = (isAsked: (entry: Entry) => boolean): boolean => {
    let least: Entry | undefined;
    for (const entry of entries)
      if (entry.owed === 0 && isAsked(entry) && (!least || mattersLess(entry, least))) least = entry;
    if (least) giveUp(least);
    return least !== undefined;
  };
  const open = (socket: Socket, owner: string): void => {
    changes += 1;
    const counts = { unread: 0, owed: 0, bytes: 0, since: changes };
    const entry = { socket, owner, isOpen: true, isFresh: true, isRefused: false, ...counts };
    entries.add(entry);
    entryOf.set(socket, entry);
    resize(owner, 1);
    const key = endOf(socket);
    if (!deps.tellsWhy) unsecured.set(key, entry);
    socket.once('close', () => {
      forget(entry);
      if (unsecured.get(key) === entry) unsecured.delete(key);
    });
  };
  const turnOf = (entry: Entry): Turn => {
    let bytes = 0;
    let stage: 'unread' | 'owed' | 'over' = 'unread';
    const leave = (next: 'owed' | 'over'): void => {
      if (stage === 'unread') {
        entry.unread -= 1;
        entry.isRefused = next === 'over';
        const held = entry.isOpen ? bytes : 0;
        entry.bytes -= held;
        heldBytes -= held;
      }
      if (stage === 'owed') entry.owed -= 1;
      if (next === 'owed') entry.owed += 1;
      stage = next;
      changes += 1;
      entry.since = changes;
    };
    return {
      hold(more) {
        if (stage !== 'unread' || !entry.isOpen) return false;
        bytes += more;
        entry.bytes += more;
        heldBytes += more;
        while (heldBytes > limits.heldBytes)
          if (!makeRoom((other) => other !== entry && other.bytes > 0)) return false;
        return true;
      },
      owe() {
        if (stage === 'unread') leave('owed');
      },
      end() {
        if (stage !== 'over') leave('over');
      },
    };
  };
  return {
    admit(socket) {
      const address = plainAddress(socket.remoteAddress);
      const owner = ownerOf(address);
      const isCrowded = (sizes.get(owner) ?? 0) >= limits.perAddress && !deps.isExempt(address);
      const isRefused =
        (isCrowded && !makeRoom((other) => other.owner === owner)) ||
        (entries.size >= limits.total && !makeRoom(() => true));
      if (isRefused) turnAway(socket);
      else open(socket, owner);
    },
    secured(socket) {
      const entry = unsecured.get(endOf(socket));
      if (!entry) return void socket.destroy();
      unsecured.delete(endOf(socket));
      entryOf.set(socket, entry);
    },
    begin(socket) {
      const entry = entryOf.get(socket);
      if (!entry?.isOpen) return goneTurn;
      entry.isFresh = false;
      entry.unread += 1;
      changes += 1;
      entry.since = changes;
      return turnOf(entry);
    },
    wasRefused: (socket) => entryOf.get(socket)?.isRefused ?? false,
    endIdle() {
      for (const entry of entries)
        if (entry.owed === 0 && (isIdle(entry) || entry.socket.bytesRead === 0)) giveUp(entry);
    },
    endUnread() {
      for (const entry of entries) if (entry.owed === 0) giveUp(entry);
    },
  };
}

const goneTurn: Turn = { hold: () => false, owe: () => undefined, end: () => undefined };

/**
 * True between two requests. A connection that has sent nothing complete counts as a sender, since every sender starts
 * so.
 */
function isIdle({ isFresh, unread, owed }: Entry): boolean {
  return !isFresh && unread === 0 && owed === 0;
}

function mattersLess(a: Entry, b: Entry): boolean {
  return isIdle(a) === isIdle(b) ? a.since < b.since : isIdle(a);
}

/** The remote end, which identifies a TLS socket and the socket below it as one connection. */
function endOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
