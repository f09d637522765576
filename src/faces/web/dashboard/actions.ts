import {
  type DiscrepancyDecision,
  decide,
  discrepancyMark,
  findByIds,
  openTo,
} from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { counted } from '../../../core/domain/counted.ts';
import { getBatch } from '../../../core/ledger/batches.ts';
import {
  type HoldReason,
  readReasons,
  reasonMark,
  releaseUnderWay,
} from '../../../core/ledger/hold-reasons.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Logger } from '../../../core/runtime/logger.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Ledger } from '../../../core/storage/ledger.ts';
import type { Batch } from '../../../core/storage/tables/tables.ts';
import { batchLikeness } from '../../../intake/likeness.sql.ts';
import { type Approvable, recordApproval } from '../../../sending/approvals.sql.ts';
import { isCancelled, judgeApproval, releaseWhole } from '../../../sending/decisions/whole-batch.ts';
import { halt, liftHalt } from '../../../sending/halts.sql.ts';
import { finishRelease, holdBatch } from '../../../sending/holds.sql.ts';
import type { Released } from '../../../sending/released.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { haltCauseText, haltInWords, sayHalt } from '../../../words/halt-words.ts';
import { holdTexts, stayTexts } from '../../../words/hold-words.ts';

/** What was done, for the person who ordered it. */
export type ActionDone = { title: string; lines: string[] };

/** A decision that the rules do not allow, or that came too late; nothing was done. */
export class Declined extends Error {
  readonly statusCode: 404 | 409 | 422;

  constructor(statusCode: 404 | 409 | 422, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

type Deps = {
  ledger: Ledger;
  clock: Pick<Clock, 'iso'>;
  log: Logger;
  config: Pick<Config, 'submission'>;
};

/** What a person says about one discrepancy. */
type Order = { id: string; by: string; verdict: DiscrepancyDecision; note: string; shown: string };

const longestNote = 2000;

/** The decisions of the dashboard: the rules and the functions of the commands, under the name of a token. */
export function createActions({ ledger, clock, log, config }: Deps) {
  const { db } = ledger;
  const { submission } = config;
  const logged = (by: string, what: object): void => log.info({ by, ...what }, 'decided on the dashboard');

  async function loaded(id: string): Promise<Batch> {
    const batch = await getBatch(db, id);
    if (!batch) throw new Declined(404, `There is no batch ${id}.`);
    if (batch.phase === 'loading')
      throw new Declined(409, `${id} is still being taken in. Try again when it is loaded.`);
    return batch;
  }

  async function notCancelled(id: string): Promise<Batch> {
    const batch = await loaded(id);
    if (await isCancelled(db, id)) throw new Declined(409, `${id} is cancelled and is never sent.`);
    return batch;
  }

  /** What the person approves, or why there is nothing to approve. */
  async function judge(
    batch: Batch,
    by: string,
  ): Promise<{ shown: Approvable } | { before: { by: string } }> {
    // A token has a name and no number.
    const acting = [{ name: by, uid: null }];
    const judged = await judgeApproval(db, { batch, rule: submission, acting });
    switch (judged.kind) {
      case 'may':
        return { shown: judged.shown };
      case 'approved':
        return { before: judged.before };
      case 'needless':
        throw new Declined(409, `${batch.id} needs no approval.`);
      case 'own':
        throw new Declined(422, `You may not approve ${batch.id}: ${judged.why}.`);
      case 'unsound':
        throw new Declined(
          409,
          `The payouts of ${batch.id} in the ledger are not those that were taken in: counterfoil verify says what differs.`,
        );
    }
  }

  async function letGo(batch: string, by: string): Promise<string[]> {
    const order = { batch, at: clock.iso(), dailyLimit: submission.dailyLimit, by };
    return releasedLines(batch, await finishRelease(ledger, order), []);
  }

  return {
    async review(id: string, by: string): Promise<{ shown: Approvable; warnings: string[] }> {
      const batch = await notCancelled(id);
      const judged = await judge(batch, by);
      if ('before' in judged) throw new Declined(409, `${id} is already approved by ${judged.before.by}.`);
      return { shown: judged.shown, warnings: await warningsOf(ledger, batch, judged.shown) };
    },
    /** `digest`: what the person saw; the batch must still be that. */
    async approve(id: string, by: string, digest: string): Promise<ActionDone> {
      const batch = await notCancelled(id);
      const judged = await judge(batch, by);
      if ('before' in judged) {
        // An approval that was interrupted before every payout was released; anybody may finish it.
        const wasCut = releaseUnderWay(readReasons(batch.hold_reasons)) !== undefined;
        const lines = wasCut ? await letGo(id, by) : [];
        return { title: `${id} is already approved by ${judged.before.by}`, lines };
      }
      const { shown } = judged;
      if (shown.digest !== digest) throw changedMeanwhile(id);
      const done = await ledger.write((trx) => recordApproval(trx, { batch, shown, by, at: clock.iso() }));
      if (done.kind === 'changed') throw changedMeanwhile(id);
      logged(by, { action: 'approve', batch: id, digest: digest.slice(0, 12) });
      const title = `${id} is approved by ${by}`;
      if (done.others.length > 0) return { title, lines: stillHeld(id, done.others) };
      return { title, lines: await letGo(id, by) };
    },
    async hold(id: string, by: string): Promise<ActionDone> {
      await loaded(id);
      const reason = { kind: 'person' } as const;
      const moved = await holdBatch(ledger, { batch: id, reason, at: clock.iso(), source: `person:${by}` });
      logged(by, { action: 'hold', batch: id, moved });
      return {
        title: `${id}: ${counted(moved, 'payout')} held`,
        lines: ['What was already on its way goes on.'],
      };
    },
    /** `shown`: the marks of the reasons, and of the failure of its canary, that the person saw; only these are lifted. */
    async release(id: string, by: string, shown: readonly string[]): Promise<ActionDone> {
      const { hold_reasons } = await notCancelled(id);
      const seen = readReasons(hold_reasons).filter((reason) => shown.includes(reasonMark(reason)));
      const order = { batch: id, at: clock.iso(), dailyLimit: submission.dailyLimit, by, seen };
      const { released, canary, unanswered } = await releaseWhole(ledger, { ...order, halts: shown });
      logged(by, { action: 'release', batch: id, moved: released.moved });
      const halted = await haltInWords(db);
      const lines = [
        ...releasedLines(id, released, seen),
        ...(unanswered === null
          ? []
          : [`It goes on without the answer of the service to service.extras (${unanswered}).`]),
        ...(canary ? [`Payouts that waited for their canary go on (${haltCauseText(canary.causes)}).`] : []),
        ...(halted ? [`Sending is still halted: ${halted.cause}.`] : []),
      ];
      return { title: `${id}: ${counted(released.moved, 'payout')} released`, lines };
    },
    async haltAll(by: string): Promise<ActionDone> {
      await ledger.write((trx) => halt(trx, { kind: 'person', by }, clock.iso()));
      logged(by, { action: 'hold everything' });
      return { title: 'All sending is halted', lines: ['What was already on its way goes on.'] };
    },
    /** `seen`: the marks of the halts that the person saw; only these are lifted. */
    async releaseAll(by: string, seen: readonly string[]): Promise<ActionDone> {
      const lifted = sayHalt(await ledger.write((trx) => liftHalt(trx, { at: clock.iso(), seen })));
      logged(by, { action: 'release everything', cause: lifted?.cause ?? null });
      const barrier = await haltInWords(db);
      return {
        title: lifted ? 'The halt is lifted' : barrier ? 'Nothing was lifted' : 'Sending was not halted',
        lines: [
          ...(lifted ? [`It was: ${lifted.cause}.`] : []),
          ...(barrier ? [`Sending is still halted: ${barrier.cause}.`] : []),
        ],
      };
    },
    /** `shown`: the mark of what the person saw of it; it must still be that. */
    async decide(order: Order): Promise<ActionDone> {
      const { id, by, verdict, shown } = order;
      const note = order.note.trim();
      if (note.length > longestNote)
        throw new Declined(422, `The note is longer than ${longestNote} characters.`);
      if (verdict === 'resolve' && note === '')
        throw new Declined(422, 'A resolution needs a note: say what was done about it.');
      const changed = await ledger.write(async (trx) => {
        const [found] = await findByIds(trx, [id]);
        if (!found) throw new Declined(404, `There is no discrepancy ${id}.`);
        if (!openTo[verdict].includes(found.state))
          throw new Declined(409, `${id} is ${found.state} already.`);
        if (discrepancyMark(found) !== shown) throw changedMeanwhile(id);
        return decide(trx, { ids: [id] }, { verdict, note, person: by, at: clock.iso() });
      });
      logged(by, { action: verdict, discrepancy: id });
      const word = verdict === 'resolve' ? 'resolved' : 'acknowledged';
      return { title: `${id} is ${word}`, lines: changed === 1 ? [] : ['Nothing was changed.'] };
    },
  };
}

function changedMeanwhile(id: string): Declined {
  return new Declined(409, `${id} changed while you looked at it. Nothing was done: look at it again.`);
}

function stillHeld(id: string, reasons: Parameters<typeof holdTexts>[0]): string[] {
  return holdTexts(reasons, id).map((text) => `Still held: ${text}.`);
}

function releasedLines(id: string, released: Released, seen: readonly HoldReason[]): string[] {
  const { moved, kept, first, doubted, firstDoubted, stays } = released;
  return [
    ...(moved > 0 ? [`${counted(moved, 'payout')} may go now, with the next submit.`] : []),
    ...(kept > 0 ? [`${counted(kept, 'payout')} still held:`] : []),
    ...first.map((one) => `${one.reference}: ${reasonText(one)}`),
    ...(doubted > 0 ? [`${counted(doubted, 'payout')} unknown again, and not sent:`] : []),
    ...firstDoubted.map((one) => `${one.reference}: ${reasonText(one)}`),
    ...stayTexts(stays, { seen, batch: id }).map(
      (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`,
    ),
  ];
}

async function warningsOf({ db }: Ledger, batch: Batch, { oddAccounts }: Approvable): Promise<string[]> {
  const others = readReasons(batch.hold_reasons).filter(({ kind }) => kind !== 'approval');
  const alike = await batchLikeness(db, { id: batch.id }, { since: '9999', recent: false }, 1);
  const [first] = alike.first;
  return [
    ...holdTexts(others, batch.id).map((text) => `It is held for another reason too: ${text}`),
    ...(first
      ? [
          `${counted(alike.count, 'payout')} with the account, currency and amount of an earlier one, the first: row ${first.row} like ${first.earlierReference} in batch ${first.earlierBatch}`,
        ]
      : []),
    ...(oddAccounts.count > 0
      ? [
          `${counted(oddAccounts.count, 'account number')} with a check digit that does not agree with the bank code, the first in row ${oddAccounts.firstRow}`,
        ]
      : []),
  ];
}
