/** The parts of every request that go on the wire. */
export type Head = {
  method: 'GET' | 'POST';
  /** Path and query, relative to the origin. */
  path: string;
  headers: Record<string, string>;
};

export type HttpReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** `answers`: the reply itself shows that it answers this request. Otherwise it may be a late answer to another one. */
type Answering = { answers?: (reply: HttpReply) => boolean };

/** A question is safe to repeat. `query`: JSON that a POST carries to say what is asked. */
export type ServiceQuestion = Head & Answering & { query?: string; body?: undefined; mayWrite?: undefined };

/** An order is written at most once. */
export type ServiceOrder = Head &
  Answering & {
    /** A new buffer for each order: it identifies the order. */
    body: Buffer;
    /** Called in the tick in which the order would be written. If it returns false, nothing is written (P3). */
    mayWrite?: () => boolean;
    /**
     * What to ask on the same socket after a reply that does not show whose it is. Undefined where the reply proves
     * nothing.
     */
    control?: (reply: HttpReply) => Head | undefined;
    /** Called with the reply as soon as it is whole, before any control. */
    onReply?: (reply: HttpReply) => void;
  };

export type HttpRequest = ServiceOrder | ServiceQuestion;

/**
 * `failed`: no whole reply came. `sent` false: the request's bytes never began to leave (P7). `control.next` is the
 * next answer of the socket; undefined where it had closed. `alone`: the socket carried no other request before this
 * order.
 */
export type RequestEnd =
  | { kind: 'reply'; reply: HttpReply; control?: { next: RequestEnd | undefined; alone: boolean } }
  | { kind: 'failed'; message: string; timedOut: boolean; sent: boolean };

/** The wire. It carries an order at most once, never follows a redirect, and never throws for a network failure (P9). */
export type Transport = { deliver(request: HttpRequest): Promise<RequestEnd>; close(): Promise<void> };
