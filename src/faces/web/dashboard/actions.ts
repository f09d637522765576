import type { z } from 'zod';
import type { ServiceAccount } from '../../../core/domain/origin.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Logger } from '../../../core/runtime/logger.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Ledger } from '../../../core/storage/ledger.ts';
import { approvalWarnings, reviewApproval } from '../../../verbs/approve.ts';
import type { Obstacle, Refused } from '../../../verbs/obstacles.ts';
import type { Person, Verb } from '../../../verbs/verb.ts';
import type { ReaderSight } from '../../../words/hold-words.ts';
import { obstacleWords } from '../../../words/results/obstacle-words.ts';
import { approvalWarningTexts } from '../../../words/results/result-words.ts';
import { obstacleStatus } from '../../admin/obstacle-status.ts';

/** A decision that the rules do not allow, or that came too late; nothing was done. */
export class Declined extends Error {
  readonly statusCode: 403 | 404 | 409 | 422;

  constructor(statusCode: 403 | 404 | 409 | 422, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

export function declinedPage(why: Obstacle): Declined {
  return new Declined(obstacleStatus[why.kind], obstacleWords(why).page);
}

/** The parts that the verbs of the dashboard need. */
export type Parts = {
  ledger: Ledger;
  clock: Pick<Clock, 'iso'>;
  log: Logger;
  config: Pick<Config, 'mode' | 'submission' | 'intake' | 'reports'>;
  account: ServiceAccount | null;
};

/** The holder of a token, which has a name and no number. */
export function personOf(by: string): Person {
  return { name: by, accounts: [{ name: by, uid: null }], noted: by };
}

/** Runs verbs under the name of a token. */
export function createActions(parts: Parts) {
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
      if (isRefused(done)) throw declinedPage(done.why);
      const logged = given.logged(done);
      if (logged) parts.log.info({ by, ...logged }, 'decided on the dashboard');
      return done;
    },
    /** What the person would approve. */
    async review(id: string, by: string, sight: ReaderSight) {
      const review = await reviewApproval(parts, id, personOf(by));
      if (review.kind === 'refused') throw declinedPage(review.why);
      if (review.kind === 'already')
        throw new Declined(409, `${id} is already approved by ${review.before.by}.`);
      const found = await approvalWarnings(parts, review);
      return {
        shown: review.shown,
        warnings: approvalWarningTexts(found, { zone: parts.config.reports.timezone, sight }).page,
        compared: found.compared,
      };
    },
  };
}

function isRefused(done: { kind: string }): done is Refused {
  return done.kind === 'refused';
}
