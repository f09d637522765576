/** What every request puts on the wire. */
export type Head = {
  method: 'GET' | 'POST';
  /** Path and query, from the origin. */
  path: string;
  headers: Record<string, string>;
};

export type HttpReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** `answers`: the reply shows by itself that it answers this request; else it may be a late answer to another. */
type Answering = { answers?: (reply: HttpReply) => boolean };

/** A question may be asked twice. */
export type Question = Head & Answering & { body?: undefined; mayWrite?: undefined };

/** An order is written at most once. */
export type Order = Head &
  Answering & {
    /** A buffer of its own: the order is known by it. */
    body: Buffer;
    /** Asked in the tick in which the order would be written; after its no, nothing is written (P3). */
    mayWrite?: () => boolean;
    /** What to ask on the same socket after a reply that does not show whose it is; undefined for a reply that proves nothing. */
    control?: (reply: HttpReply) => Head | undefined;
  };

export type HttpRequest = Order | Question;

/**
 * `failed`: no whole reply came. `sent` false: the request's bytes never began to leave (P7). `control`: what the socket
 * said next, undefined where it had closed; `alone`: it had carried no other request before this order.
 */
export type Delivery =
  | { kind: 'reply'; reply: HttpReply; control?: { next: Delivery | undefined; alone: boolean } }
  | { kind: 'failed'; message: string; timedOut: boolean; sent: boolean };

/** The wire: carries one order at most once, never follows a redirect, never throws for what the network does (P9). */
export type Transport = { deliver(request: HttpRequest): Promise<Delivery>; close(): Promise<void> };
