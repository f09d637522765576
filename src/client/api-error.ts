import type { z } from 'zod';
import type { problemBody } from '../faces/api/problem.ts';

type Details = Partial<z.output<typeof problemBody>>;

/** Why a request got nothing done, or why no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The status of HTTP; 0 where no answer came in all tries, so that nobody knows what was done. */
  readonly status: number;
  readonly problem: string;
  readonly fix: string;
  /** Which problem: the same for each of its kind, such as `taken_before`. */
  readonly kind: string;
  /** What the server said beside it: `batch`, `problems`, `evidence_digest`. */
  readonly details: Details;
  /** The Idempotency-Key of the decision: with the same key it can be repeated for a day. */
  readonly idempotencyKey: string | null;
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    said: { details: Details; idempotencyKey?: string | null; retryAfterMs?: number | null; cause?: unknown },
  ) {
    const { problem = `the answer was HTTP ${status}`, fix = 'see what answers at this address' } =
      said.details;
    super(`${problem}: ${fix}`, { cause: said.cause });
    this.status = status;
    this.problem = problem;
    this.fix = fix;
    this.kind = said.details.type?.split(':').at(-1) ?? 'unknown';
    this.details = said.details;
    this.idempotencyKey = said.idempotencyKey ?? null;
    this.retryAfterMs = said.retryAfterMs ?? null;
  }
}

/** What an answer that is no success says. */
export async function errorOf(response: Response, idempotencyKey: string | null): Promise<ApiError> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  const said: unknown = isProblem ? await response.json() : null;
  if (!isProblem) await response.body?.cancel();
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(response.status, {
    details: typeof said === 'object' && said !== null ? said : {},
    idempotencyKey,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  });
}
