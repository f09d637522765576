import { ApiError } from './api-error.ts';
import { followEvents } from './follow-events.ts';
import type {
  AnswerOf,
  ArgumentsOf,
  CallOptions,
  CounterfoilEvent,
  Method,
  OperationName,
  PlaceOf,
  PostedBatch,
  ResultOf,
} from './operation-types.ts';
import { createRequests, type RequestOptions } from './requests.ts';

export { ApiError } from './api-error.ts';
export type { BatchAnswer, CallOptions, CounterfoilEvent, PostedBatch } from './operation-types.ts';

type Posting = ArgumentsOf<'postBatch'>;
/** What a file is posted from. A stream is read once: its post cannot be repeated. */
export type FileBody = string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** The API of one Counterfoil: a method for each operation (docs/api.md). */
export type CounterfoilClient = {
  [Name in Exclude<OperationName, 'postBatch'>]: Method<Name>;
} & {
  /** Takes the file in. A post whose answer was lost is repeated: the same content is the same batch. */
  postBatch(
    file: FileBody,
    posting: Posting & { check: 'true' },
    options?: CallOptions,
  ): Promise<AnswerOf<'postBatch', 200>>;
  postBatch(
    file: FileBody,
    posting: Posting & { check?: 'false' },
    options?: CallOptions,
  ): Promise<PostedBatch>;
  /**
   * Reads what happens, for ever, each event once: goes on where it was after a lost connection. `after`: the cursor of
   * the last event that you have; none: the oldest that is kept; `latest`: only what is to come. Ends when the signal
   * aborts. Throws {@link ApiError} where the cursor or the token is refused.
   */
  events(from?: { after?: string; signal?: AbortSignal }): AsyncGenerator<CounterfoilEvent, void, undefined>;
};

/** Where each operation stands. */
const places: { readonly [Name in OperationName]: PlaceOf<Name> } = {
  postBatch: 'POST /batches',
  listBatches: 'GET /batches',
  getBatch: 'GET /batches/{batch}',
  getResults: 'GET /batches/{batch}/results.csv',
  getFailed: 'GET /batches/{batch}/failed.csv',
  approveBatch: 'POST /batches/{batch}/approve',
  rejectBatch: 'POST /batches/{batch}/reject',
  holdBatch: 'POST /batches/{batch}/hold',
  releaseBatch: 'POST /batches/{batch}/release',
  cancelBatch: 'POST /batches/{batch}/cancel',
  listPayouts: 'GET /payouts',
  listPayees: 'GET /payees',
  getPayout: 'GET /payouts/{reference}',
  retryPayout: 'POST /payouts/{reference}/retry',
  settlePayout: 'POST /payouts/{reference}/settle',
  resendPayout: 'POST /payouts/{reference}/resend',
  cancelPayout: 'POST /payouts/{reference}/cancel',
  listDiscrepancies: 'GET /discrepancies',
  acknowledgeDiscrepancy: 'POST /discrepancies/{id}/acknowledge',
  resolveDiscrepancy: 'POST /discrepancies/{id}/resolve',
  listRuns: 'GET /runs',
  getRun: 'GET /runs/{run}',
  getRunSheet: 'GET /runs/{run}/{sheet}.csv',
  startRun: 'POST /runs',
  getStatus: 'GET /status',
  listEvents: 'GET /events',
  listFindings: 'GET /findings',
  getOpenApi: 'GET /openapi.json',
};

/** A client of the API at this address of an admin server, with a token of COUNTERFOIL_ADMIN_TOKENS. */
export function createClient(given: RequestOptions): CounterfoilClient {
  const requests = createRequests(given);

  async function postBatch(
    body: FileBody,
    posting: Posting,
    { signal }: CallOptions = {},
  ): Promise<AnswerOf<'postBatch', 200> | PostedBatch> {
    const retries = body instanceof ReadableStream ? 0 : given.retries;
    const began = performance.now();
    return requests.repeat({ signal, retries }, async (failures) => {
      try {
        const target = `/batches${queryOf(posting)}`;
        const headers = { 'content-type': 'text/csv' };
        return await requests.json(target, { method: 'POST', body, headers, signal });
      } catch (error) {
        const wasLost = failures > 0 && error instanceof ApiError && error.kind === 'taken_before';
        const { batch } = wasLost ? error.details : {};
        if (batch === undefined) throw error;
        const answer = await requests.send(`/batches/${encodeURIComponent(batch)}`, { signal });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server's tests hold its answers against their schemas
        const found = (await answer.json()) as ResultOf<'getBatch'>;
        const ageMs = serverNow(answer) - Date.parse(found.taken_in_at);
        // What an earlier post took in, perhaps last month, is not this one.
        if (ageMs > performance.now() - began + clocksDifferMs) throw error;
        return found;
      }
    });
  }

  const methodOf =
    (place: string) =>
    (
      fields: Record<string, unknown> = {},
      { signal, idempotencyKey }: CallOptions = {},
    ): Promise<unknown> => {
      const [method = '', path = ''] = place.split(' ');
      const { target, rest } = fill(path, fields);
      if (method === 'GET')
        return requests.repeat({ signal }, () =>
          path.endsWith('.csv')
            ? requests.send(target + queryOf(rest), { signal })
            : requests.json(target + queryOf(rest), { signal, mayTimeOut: true }),
        );
      const key = idempotencyKey ?? newKey();
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };
      const body = JSON.stringify(rest);
      return requests.repeat({ signal, idempotencyKey: key }, () =>
        requests.json(target, { method, headers, body, signal, mayTimeOut: true }),
      );
    };
  const methods = Object.entries(places).map(([name, place]) => [name, methodOf(place)] as const);
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `places` has each name, and the server's tests its answer
    ...(Object.fromEntries(methods) as unknown as CounterfoilClient),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a check is another
    postBatch: postBatch as CounterfoilClient['postBatch'],
    events: (from = {}) => followEvents(requests, from),
  };
}

/** So far the clocks of two machines that serve one ledger may differ. */
const clocksDifferMs = 60_000;

/** When the server answered, by its clock; by ours where it does not say. */
function serverNow({ headers }: Response): number {
  const stamp = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(stamp) ? Date.now() : stamp;
}

/** The path with its parameters, and what is no parameter of it. */
function fill(path: string, fields: Record<string, unknown>) {
  const rest = { ...fields };
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing`);
    return encodeURIComponent(value);
  });
  return { target, rest };
}

function queryOf(fields: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string' || typeof value === 'number') query.set(name, value.toString());
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** A key that no other decision has. `randomUUID` is not there on plain HTTP in a browser. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
