import type { z } from 'zod';
import type { ServiceAccount } from '../../../core/domain/origin.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Logger } from '../../../core/runtime/logger.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Ledger } from '../../../core/storage/ledger.ts';
import { approvalWarnings, reviewApproval } from '../../../verbs/approve.ts';
import type { Obstacle, Refused } from '../../../verbs/obstacles.ts';
import type { Person, Verb } from '../../../verbs/verb.ts';
import { obstacleWords } from '../../../words/results/obstacle-words.ts';
import { approvalWarningTexts } from '../../../words/results/result-words.ts';

/** A decision that the rules do not allow, or that came too late; nothing was done. */
export class Declined extends Error {
  readonly statusCode: 404 | 409 | 422;

  constructor(statusCode: 404 | 409 | 422, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

const statusOf: Record<Obstacle['kind'], Declined['statusCode']> = {
  no_batch: 404,
  no_payout: 404,
  unaskable: 422,
  no_collection: 404,
  no_run: 404,
  unfinished_run: 409,
  open_month: 409,
  not_closed: 409,
  loading: 409,
  cancelled: 409,
  unsound: 409,
  needless: 409,
  own: 422,
  changed: 409,
  no_discrepancy: 404,
  closed: 409,
  no_note: 422,
  long_note: 422,
  not_one_file: 422,
  reconciling: 409,
  file_exists: 409,
  no_folder: 422,
  in_a_database: 422,
};

function declined(why: Obstacle): Declined {
  return new Declined(statusOf[why.kind], obstacleWords(why).page);
}

/** The parts that the verbs of the dashboard need. */
export type Parts = {
  ledger: Ledger;
  clock: Pick<Clock, 'iso'>;
  log: Logger;
  config: Pick<Config, 'mode' | 'submission'>;
  account: ServiceAccount | null;
};

/** Runs verbs under the name of a token. */
export function createActions(parts: Parts) {
  // A token has a name and no number.
  const personOf = (by: string): Person => ({ name: by, accounts: [{ name: by, uid: null }], noted: by });
  return {
    /** `logged`: what the log says of it; null for nothing. */
    async order<Input extends z.ZodType, Outcome extends { kind: string }>(
      verb: Verb<Parts, Input, Outcome | Refused>,
      given: { input: z.input<Input>; by: string; logged(done: Outcome): object | null },
    ): Promise<Outcome> {
      const { input, by } = given;
      const done = await verb.run(parts, verb.input.parse(input), personOf(by)).catch((error: unknown) => {
        const said = 'a decision on the dashboard failed on the way; what it had recorded stands';
        parts.log.error({ by, action: verb.name, err: error }, said);
        throw error;
      });
      if (isRefused(done)) throw declined(done.why);
      const logged = given.logged(done);
      if (logged) parts.log.info({ by, ...logged }, 'decided on the dashboard');
      return done;
    },
    /** What the person would approve. */
    async review(id: string, by: string) {
      const review = await reviewApproval(parts, id, personOf(by));
      if (review.kind === 'refused') throw declined(review.why);
      if (review.kind === 'already')
        throw new Declined(409, `${id} is already approved by ${review.before.by}.`);
      const warnings = approvalWarningTexts(await approvalWarnings(parts.ledger, review)).page;
      return { shown: review.shown, warnings };
    },
  };
}

function isRefused(done: { kind: string }): done is Refused {
  return done.kind === 'refused';
}
