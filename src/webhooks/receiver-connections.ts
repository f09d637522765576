import type { Socket } from 'node:net';
import { ownerOf, plainAddress } from './receiver-address.ts';

/** One request on a connection, from its headers to its answer. */
export type Turn = {
  /** So many bytes more of its body are held. False: there is no room for them, or its connection was given up. */
  hold(bytes: number): boolean;
  /** Its body was read: from here on we owe an answer, and the connection is never given up for another. */
  owe(): void;
  /** It was answered, or its sender went away. */
  end(): void;
};

export type Connections = {
  /** Counts a connection just accepted, and gives another up for it; turns it away when all are owed an answer. */
  admit(socket: Socket): void;
  /** The TLS socket on top of a connection that was admitted stands for it from now on. */
  secured(socket: Socket): void;
  /** A request began on a connection that was admitted. */
  begin(socket: Socket): Turn;
  /** True when a connection's last request was answered before its end: what breaks now is the rest of that. */
  wasRefused(socket: Socket): boolean;
  /** Ends those that wait between two requests or never sent anything. */
  endIdle(): void;
  /** Ends all that are owed no answer. */
  endUnread(): void;
};

export type ConnectionLimits = {
  total: number;
  /** An IPv6 /64 counts as one address. */
  perAddress: number;
  /** Bytes of bodies that are not read to their end, over all connections. */
  heldBytes: number;
};

/**
 * `unread` counts requests under way, `owed` those that were read and not answered. `since`: the number of its last
 * change among those of all connections; a smaller one has been as it is for longer.
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

/** How long a connection that is turned away may take to hear it, ms, and how many may at once. */
const lingerMs = 500;
const mostLingering = 200;

/** For whom there is no room: the service delivers again. */
const busyReply =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 15\r\n\r\ntry again later';

/**
 * Bounds how many connections are open, in all and from one address, and how many bytes of unfinished bodies they
 * hold. Whoever is new gets in. Given up for him are first those that wait between two requests, then those that have
 * been sending theirs for the longest: slow senders starve nobody. `isExempt` names proxies, behind whom many stand.
 */
export function createConnections(deps: {
  limits: ConnectionLimits;
  isExempt(address: string): boolean;
  /** Over TLS a word in the clear means nothing, so that a connection is only cut. */
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
  /** A socket closed over what it has not read is reset, and its reply lost: so it is closed a moment later. */
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
  /** Gives up the one that matters least; a look at each is cheap, and taken only where there is no room. */
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

/** Between two requests. One that has sent nothing whole yet is taken for a sender, since every sender begins so. */
function isIdle({ isFresh, unread, owed }: Entry): boolean {
  return !isFresh && unread === 0 && owed === 0;
}

function mattersLess(a: Entry, b: Entry): boolean {
  return isIdle(a) === isIdle(b) ? a.since < b.since : isIdle(a);
}

/** The other end, by which a TLS socket and the one below it are known to be one connection. */
function endOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
