import type { z } from 'zod';
import type { Obstacle, Refused } from '../../verbs/obstacles.ts';
import { obstacleWords } from '../../words/results/obstacle-words.ts';
import { obstacleStatus } from '../admin/obstacle-status.ts';
import type { problemBody } from './problem-body.ts';

type More = Omit<z.infer<typeof problemBody>, 'type' | 'title' | 'status' | 'problem' | 'fix'>;

/** What a request is answered that did nothing. */
export class ApiProblem extends Error {
  readonly statusCode: number;
  readonly kind: string;
  readonly fix: string;
  readonly more: More;
  readonly retryAfterSeconds: number | null;

  constructor(
    statusCode: number,
    said: { kind: string; problem: string; fix: string; more?: More; retryAfterSeconds?: number },
  ) {
    super(said.problem);
    this.statusCode = statusCode;
    this.kind = said.kind;
    this.fix = said.fix;
    this.more = said.more ?? {};
    this.retryAfterSeconds = said.retryAfterSeconds ?? null;
  }
}

export const problemType = 'application/problem+json; charset=utf-8';

export function problemOf(
  status: number,
  { kind, problem, fix, more = {} }: { kind: string; problem: string; fix: string; more?: More },
): z.infer<typeof problemBody> {
  const title = titles[status] ?? 'The request failed';
  return { type: `urn:counterfoil:problem:${kind}`, title, status, problem, fix, ...more };
}

const titles: Record<number, string> = {
  400: 'The request cannot be read',
  401: 'A token is needed',
  403: 'Not allowed',
  404: 'Not there',
  408: 'Too slow',
  409: 'It is not as the request expects',
  410: 'No longer there',
  413: 'Too large',
  415: 'Not a type that is read here',
  421: 'Another host',
  422: 'Refused',
  429: 'Too many',
  500: 'The request failed',
  503: 'Not now',
};

/** Throws the problem of a verb that did nothing. */
export function unlessRefused<Done extends { kind: string }>(done: Done | Refused): Done {
  if (isRefusal(done)) throw declined(done.why);
  return done;
}

function isRefusal(done: { kind: string }): done is Refused {
  return done.kind === 'refused' && 'why' in done;
}

export function declined(why: Obstacle): ApiProblem {
  const problem = obstacleWords(why).page;
  return new ApiProblem(obstacleStatus[why.kind], { kind: why.kind, problem, fix: fixes[why.kind] });
}

const again = 'read it again, and decide on what it is now';
const fixes: Record<Obstacle['kind'], string> = {
  no_batch: 'GET /batches lists them; a name is whole here',
  no_payout: 'GET /payouts lists them',
  no_collection: 'name a collection that was expected, or that a webhook reported',
  no_run: 'GET /runs lists them',
  unfinished_run: 'wait for its end: an event run.finished tells it',
  no_discrepancy: 'GET /discrepancies lists what is open',
  unaskable: 'name a reference that the service can have',
  open_month: 'close it first',
  not_closed: 'do what is named, then repeat the request',
  loading: 'repeat the request when it is loaded',
  cancelled: 'to pay it, post it again with new references',
  unsound: 'run counterfoil verify on the machine of the ledger',
  needless: 'nothing has to be done',
  own: 'ask somebody else to approve it',
  changed: again,
  closed: again,
  no_note: 'send a note that says what was done about it',
  long_note: 'send a shorter note',
  not_one_file: 'post one file with its figures',
  reconciling: 'wait for its end: an event run.finished tells it',
  file_exists: 'name a new file',
  no_folder: 'make the folder first',
  in_a_database: 'use the backups of the database',
};
