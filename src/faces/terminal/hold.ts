import type { App } from '../../app/app.ts';
import { payoutOverview } from '../../books/overview.sql.ts';
import { counted } from '../../core/domain/counted.ts';
import { visible } from '../../core/domain/hidden.ts';
import { unprovenEvidence, waiveListing } from '../../core/ledger/barriers.ts';
import { batchCounts } from '../../core/ledger/batches.ts';
import { areHoldingAll, holdReasonsOf, readReasons } from '../../core/ledger/hold-reasons.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import { isCancelled, releaseWhole } from '../../sending/decisions/whole-batch.ts';
import { halt, haltMarks, liftHalt } from '../../sending/halts.sql.ts';
import { holdBatch } from '../../sending/holds.sql.ts';
import { submitCommand } from '../../words/advice-text.ts';
import { haltCauseText, haltInWords, sayHalt } from '../../words/halt-words.ts';
import { holdTexts, stayTexts } from '../../words/hold-words.ts';
import { readable } from '../../words/readable.ts';
import { payoutsText } from './batch-lines.ts';
import {
  finished,
  haltText,
  notReleased,
  notReleasedJson,
  notReleasedLines,
  unlessQuiet,
} from './describe.ts';
import { terminalOf } from './kit/terminal.ts';
import { loadedBatch } from './named-batch.ts';
import { person } from './person.ts';
import { type Result, Stop } from './result.ts';
import { withApp } from './with-app.ts';
import type { Handler } from './world.ts';

/** `hold BATCH`, `hold --mode`: the brake (P21). Reports what was already in flight. */
export const hold: Handler = async (context, args, options) => {
  const work = async (app: App<'local'>): Promise<Result> => {
    const { mode } = app.config;
    const at = app.clock.iso();
    refuseBoth(args, options);
    if (options.mode) {
      await app.ledger.write((trx) => halt(trx, { kind: 'person' }, at));
      const { payouts } = await payoutOverview(app.ledger.db);
      const sending = payouts.sending ?? 0;
      const said = [`Everything in mode ${mode} is held; ${underWayText(sending)}.`];
      const lines = finished(context, said, 'counterfoil release --mode');
      return unlessQuiet(context, { code: 0, lines, json: { mode, held: true, sending } });
    }
    const batch = (await loadedBatch(app, args)).id;
    const moved = await holdBatch(app.ledger, { batch, reason: { kind: 'person' }, at });
    const [now] = await batchCounts(app.ledger.db, [batch]);
    const { ready: _r, held: _h, ...underWay } = now?.counts ?? {};
    const sending = underWay.sending ?? 0;
    // A release that saw this hold may have ended it before all of its transactions were made.
    const released = !areHoldingAll((await holdReasonsOf(app.ledger.db, batch)).reasons);
    const said = [
      `${batch}: ${counted(moved, 'payout')} held; ${underWayText(sending)}.`,
      `  Already on their way or done: ${payoutsText(underWay)}.`,
      ...(released ? [`  A release has ended this hold meanwhile: ${batch} is not held.`] : []),
    ];
    const lines = finished(
      context,
      said,
      released ? `counterfoil hold ${batch}` : moved > 0 ? `counterfoil release ${batch}` : '',
    );
    return unlessQuiet(context, {
      code: released ? 4 : 0,
      lines,
      json: { batch, held: moved, sending, under_way: underWay, released_since: released },
    });
  };
  return withApp(context, { level: 'local', use: options.mode ? 'begins' : 'writes' }, work);
};

/** `release BATCH`, `release --mode`: releases a held batch, or lifts a halt (P11). */
export const release: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const { mode } = app.config;
    const at = app.clock.iso();
    const terminal = terminalOf(context, app.config, at);
    refuseBoth(args, options);
    const note = readNote(options);
    if (options.mode) {
      const seen = await haltMarks(app.ledger.db);
      const lifted = sayHalt(await app.ledger.write((trx) => liftHalt(trx, { at, seen })));
      const ended = note === null ? null : await waive(app, note, options.evidence);
      const waived = typeof ended === 'object' ? ended : null;
      const barrier = await haltInWords(app.ledger.db);
      const line = lifted
        ? `The halt of mode ${mode} (${lifted.cause}) is lifted.`
        : waived
          ? 'The ledger no longer waits for a complete list.'
          : barrier
            ? 'Nothing was lifted.'
            : `Mode ${mode} was not halted.`;
      return unlessQuiet(context, {
        code: barrier ? 4 : 0,
        lines: finished(
          context,
          [
            line,
            ...(waived
              ? [
                  `not proven: ${readable(waived.notProven, terminal.time)}`,
                  'new batches go out; what may have been sent stays unknown, for settle',
                ]
              : []),
            ...(barrier ? [`Sending is still halted ${haltText(barrier, terminal)}`] : []),
            ...(ended === 'unread' || ended === 'unseen' ? [inVain[ended]] : []),
          ],
          barrier ? '' : submitCommand(mode),
        ),
        json: {
          mode,
          released: Boolean(lifted || waived),
          cause: lifted?.cause ?? null,
          waived: waived !== null,
          not_proven: waived?.notProven ?? null,
          evidence: await unprovenEvidence(app.ledger.db),
          halted: barrier ?? null,
        },
      });
    }
    const { id: batch, hold_reasons } = await loadedBatch(app, args);
    const seen = readReasons(hold_reasons);
    const halts = await haltMarks(app.ledger.db);
    await refuseCancelled(app, batch);
    const { dailyLimit } = app.config.submission;
    const { released, canary, unanswered } = await releaseWhole(app.ledger, {
      batch,
      at,
      dailyLimit,
      seen,
      halts,
    });
    const { moved } = released;
    const stays = holdTexts(released.stays, batch);
    const halted = await haltInWords(app.ledger.db);
    const [now] = await batchCounts(app.ledger.db, [batch]);
    const sending = now?.counts.sending ?? 0;
    const lines = [`${batch}: ${counted(moved, 'payout')} released; ${underWayText(sending)}.`];
    lines.push(...notReleasedLines(released));
    lines.push(...stayTexts(released.stays, { seen, batch }).map((text) => `  ${text}`));
    const failed = canary ? haltCauseText(canary.causes) : null;
    if (unanswered !== null)
      lines.push(`  it goes on without the answer to service.extras (${visible(unanswered)})`);
    if (failed !== null) lines.push(`payouts that waited for their canary go on (${failed})`);
    if (halted) lines.push(`Sending is still halted ${haltText(halted, terminal)}`);
    const next = halted
      ? 'counterfoil status'
      : moved > 0 || canary || unanswered !== null
        ? submitCommand(mode)
        : '';
    return unlessQuiet(context, {
      code: stays.length > 0 || notReleased(released) || halted ? 4 : 0,
      lines: finished(context, lines, next),
      json: {
        batch,
        released: moved,
        sending,
        ...notReleasedJson(released),
        hold_reasons: stays,
        canary: failed,
        unanswered,
        halted: halted ?? null,
      },
    });
  });
};

const inVain = {
  unread:
    'the note lifts nothing before counterfoil reconcile --full has read the list of the account that is named now',
  unseen: 'the note lifts nothing: other things are not proven now; read that first',
};

/** The note of `release --mode`, or null without one. */
function readNote({ mode, note }: Record<string, unknown>): string | null {
  if (typeof note !== 'string') return null;
  if (!mode) throw new Stop('--note goes with --mode; nothing was done');
  if (note.trim() === '') throw new Stop('say how you know: --note "account closed, letter of 3 May"');
  return note.trim();
}

/** Ends an adopted ledger's wait for a list that will never come (P32), where P25 allows that. */
async function waive({ ledger, account, clock, log }: App<'local'>, note: string, shown: unknown) {
  const by = person();
  const evidence = typeof shown === 'string' ? shown : undefined;
  const waived = await ledger.write(async (trx) => {
    const foreign = await foreignOrigins(trx, account);
    return waiveListing(trx, { at: clock.iso(), by, note, evidence, foreign });
  });
  if (typeof waived === 'object')
    log.warn({ by, note }, 'a person ended the wait of an adopted ledger for a complete list');
  return waived;
}

/** Refuses a batch name beside --mode: it would be ignored, and everything released instead of one batch. */
function refuseBoth(args: string[], options: Record<string, unknown>): void {
  if (options.mode && args.length > 0)
    throw new Stop(`name a batch ("${args[0]}") or say --mode for everything, not both; nothing was done`);
}

/** Stops with 2 for a cancelled batch: nothing of it is ever sent, so it can be neither released nor approved. */
export async function refuseCancelled({ ledger }: App<'local'>, batch: string): Promise<void> {
  if (!(await isCancelled(ledger.db, batch))) return;
  throw new Stop(
    `${batch} is cancelled and is never sent; nothing was done. To pay it, submit it again with new references`,
  );
}

/** Counts the payouts already in a request: these can no longer be held (P21). */
function underWayText(sending: number): string {
  return `${sending} ${sending === 1 ? 'was' : 'were'} already sending`;
}
