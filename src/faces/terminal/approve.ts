import type { App } from '../../app/app.ts';
import { counted } from '../../core/domain/counted.ts';
import { type HoldReason, readReasons, releaseUnderWay } from '../../core/ledger/hold-reasons.ts';
import type { Batch } from '../../core/storage/tables/tables.ts';
import { batchLikeness } from '../../intake/likeness.sql.ts';
import { behindSudo, type OsUser } from '../../sending/approval.ts';
import { type Approvable, recordApproval } from '../../sending/approvals.sql.ts';
import { judgeApproval } from '../../sending/decisions/whole-batch.ts';
import { finishRelease } from '../../sending/holds.sql.ts';
import { submitCommand } from '../../words/advice-text.ts';
import { holdTexts, stayTexts } from '../../words/hold-words.ts';
import { readable } from '../../words/readable.ts';
import {
  finished,
  notReleased,
  notReleasedJson,
  notReleasedLines,
  totalsText,
  unlessQuiet,
} from './describe.ts';
import { refuseCancelled } from './hold.ts';
import { type Terminal, terminalOf } from './kit/terminal.ts';
import { wrapAll } from './kit/wrap.ts';
import { loadedBatch } from './named-batch.ts';
import { person } from './person.ts';
import { type Result, Stop } from './result.ts';
import { withApp } from './with-app.ts';
import type { Context } from './world.ts';

/** `approve BATCH`: records a second person's approval, bound to the digest of the frozen bodies shown to them (P2). */
export async function approve(context: Context, args: string[]): Promise<Result> {
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const batch = await loadedBatch(app, args);
    await refuseCancelled(app, batch.id);
    const order = { batch, rule: app.config.submission, acting: approvers(context) };
    const judged = await judgeApproval(app.ledger.db, order);
    if (judged.kind === 'needless') return refuseNeedless(batch, judged.reasons);
    if (judged.kind === 'approved') return goOn(context, app, batch, judged.before);
    if (judged.kind === 'own') throw new Stop(`${batch.id} is not approved: ${judged.why}. Nothing was done`);
    if (judged.kind === 'unsound')
      throw new Stop(
        `${batch.id} is not approved: its payouts in the ledger are not those that were taken in. Nothing was done; counterfoil verify says what differs`,
        1,
      );
    const { shown } = judged;
    const warnings = await warningsOf(app, batch, shown);
    const terminal = terminalOf(context, app.config, app.clock.iso());
    for (const line of orderLines(batch, shown, { warnings, terminal }))
      (context.options.json ? context.say : context.print)(line);
    const by = person();
    const at = app.clock.iso();
    const done = await app.ledger.write((trx) => recordApproval(trx, { batch, shown, by, at }));
    if (done.kind === 'changed')
      throw new Stop(`${batch.id} changed while it was looked at: look again. Nothing was done`);
    const { digest, rows, totals } = shown;
    const json = { approved_by: by, approved_at: at, digest, rows, totals, warnings };
    const line = `${batch.id}: approved by ${by}, digest ${digest.slice(0, 12)}`;
    if (done.others.length > 0) {
      const held = holdTexts(done.others, batch.id);
      const lines = finished(context, [line, ...held.map((reason) => `  still held: ${reason}`)]);
      return { code: 4, lines, json: { batch: batch.id, ...json, released: 0, hold_reasons: held } };
    }
    return letGo(context, app, batch, { line, json });
  });
}

function refuseNeedless(batch: Batch, held: readonly HoldReason[]): never {
  const reasons = holdTexts(held, batch.id);
  const next = reasons.length > 0 ? `. It is held: ${reasons.join('; ')}` : '';
  throw new Stop(`${batch.id} needs no approval; nothing was done${next}`);
}

/** Finishes an approval that was interrupted before every payout was released. Any person may repeat the command. */
async function goOn(
  context: Context,
  app: App<'local'>,
  batch: Batch,
  before: { by: string; at: string; digest: string },
): Promise<Result> {
  const line = `${batch.id}: already approved by ${before.by} ${terminalOf(context, app.config, before.at).time(before.at)}`;
  const json = { approved_by: before.by, approved_at: before.at, digest: before.digest };
  const reasons = readReasons(batch.hold_reasons);
  if (releaseUnderWay(reasons)) return letGo(context, app, batch, { line, json });
  const held = otherTexts(batch);
  const lines = finished(context, [line, ...held.map((reason) => `  still held: ${reason}`)]);
  const told = { batch: batch.id, ...json, released: 0, hold_reasons: held };
  return unlessQuiet(context, { code: held.length > 0 ? 4 : 0, lines, json: told });
}

async function letGo(
  context: Context,
  app: App<'local'>,
  batch: Batch,
  { line, json }: { line: string; json: Record<string, unknown> },
): Promise<Result> {
  const { mode, submission } = app.config;
  const at = app.clock.iso();
  const order = { batch: batch.id, at, dailyLimit: submission.dailyLimit };
  const released = await finishRelease(app.ledger, order);
  const { moved } = released;
  const stays = holdTexts(released.stays, batch.id);
  const said = [
    `${line}; ${counted(moved, 'payout')} may go now: ${submitCommand(mode)} or serve sends them`,
    ...notReleasedLines(released),
    ...stayTexts(released.stays, { seen: [], batch: batch.id }).map((text) => `  ${text}`),
  ];
  const lines = finished(context, said, moved > 0 ? submitCommand(mode) : '');
  const told = {
    batch: batch.id,
    ...json,
    released: moved,
    ...notReleasedJson(released),
    hold_reasons: stays,
  };
  return unlessQuiet(context, { code: stays.length > 0 || notReleased(released) ? 4 : 0, lines, json: told });
}

/** All accounts of this person: sudo does not make them a second person. */
function approvers({ env }: Context): OsUser[] {
  const own: OsUser = { name: person(), uid: process.getuid?.() ?? null };
  const behind = behindSudo(env);
  return behind ? [own, behind] : [own];
}

/** Why the batch is held, besides the missing approval, in words. */
function otherTexts({ id, hold_reasons }: Batch): string[] {
  const others = readReasons(hold_reasons).filter(({ kind }) => kind !== 'approval');
  return holdTexts(others, id);
}

async function warningsOf(app: App<'local'>, batch: Batch, { oddAccounts }: Approvable): Promise<string[]> {
  const others = otherTexts(batch);
  const ever = { since: '9999', recent: false };
  const alike = await batchLikeness(app.ledger.db, { id: batch.id }, ever, 1);
  const [first] = alike.first;
  return [
    ...others.map((reason) => `it is held for another reason too: ${reason}`),
    ...(first
      ? [
          `${alike.count} of its payouts have the account, currency and amount of an earlier one, the first: row ${first.row} like ${first.earlierReference} in batch ${first.earlierBatch} of ${first.earlierAt.slice(0, 10)}`,
        ]
      : []),
    ...(oddAccounts.count > 0
      ? [
          `${counted(oddAccounts.count, 'account number')} with a check digit that does not agree with the bank code, the first in row ${oddAccounts.firstRow}`,
        ]
      : []),
  ];
}

function orderLines(
  batch: Batch,
  shown: Approvable,
  { warnings, terminal }: { warnings: readonly string[]; terminal: Terminal },
): string[] {
  const as = batch.dropped_as === '' ? '' : ` as ${batch.dropped_as}`;
  const lines = [
    `${batch.id}   ${counted(shown.rows, 'payout')}   ${totalsText(shown.totals)}`,
    `  ${batch.file_name}, taken in ${terminal.time(batch.created_at)}, dropped by ${batch.dropped_by}${as}`,
    ...warnings.map((warning) => `  WARNING: ${readable(warning, terminal.time)}`),
    `  digest ${shown.digest.slice(0, 12)}`,
  ];
  return wrapAll(lines, terminal.width, 2);
}
