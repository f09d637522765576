import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { JsonOf } from '../../../core/shapes/json-shapes.ts';
import { amountWarnings, hiddenBy, shownComparison } from '../../../sending/payee-facts.ts';
import {
  type ApprovalOutcome,
  approvalWarnings,
  approveReviewed,
  reviewApproval,
} from '../../../verbs/approve.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { holdTexts, stayTexts } from '../../../words/hold-words.ts';
import { readable } from '../../../words/readable.ts';
import { approvalWarningTexts } from '../../../words/results/result-words.ts';
import { approveJson } from '../../json/order-json.ts';
import { orderedBatch } from '../context/named-batch.ts';
import { orderer, stopFor } from '../context/person.ts';
import type { Result } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { comparedLines } from '../kit/compared-lines.ts';
import { notReleased, notReleasedLines, totalsText } from '../kit/describe.ts';
import { type Terminal, terminalOf } from '../kit/terminal.ts';
import { wrapAll } from '../kit/wrap.ts';
import { waitingLines } from '../status/waiting.ts';

type Seen = Pick<JsonOf<'approve'>, 'rows' | 'totals' | 'warnings'>;
type Shown = Extract<Awaited<ReturnType<typeof reviewApproval>>, { kind: 'may' }>;

/** `approve BATCH`: records a second person's approval, bound to the digest of the frozen bodies shown to them (P2). */
export async function approve(context: Context, args: string[]): Promise<Result> {
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const { id } = await orderedBatch(app, args);
    const person = orderer(context);
    const review = await reviewApproval(app, id, person);
    if (review.kind === 'refused') throw stopFor(review);
    const seen = review.kind === 'may' ? await show(context, app, review) : {};
    const done = await approveReviewed(app, review, person);
    if (done.kind === 'refused') throw stopFor(done);
    return describe(context, app, done, seen);
  });
}

/** Prints what is approved, and returns it for JSON. */
async function show(context: Context, app: App<'local'>, review: Shown): Promise<Seen> {
  const { rows, totals } = review.shown;
  const found = await approvalWarnings(app, review);
  const amounts = found.compared ? amountWarnings(found.compared) : [];
  const warnings = [
    ...amounts,
    ...approvalWarningTexts(found, { zone: app.config.reports.timezone }).command,
  ];
  const terminal = terminalOf(context, app.config, app.clock.iso());
  const compared = comparedLines(
    found.compared && shownComparison(found.compared, hiddenBy(app.config.reports)),
    { verbose: true },
  );
  for (const line of orderLines(review, { compared, warnings, terminal }))
    (context.options.json ? context.say : context.print)(line);
  return { rows, totals, warnings };
}

async function describe(
  context: Context,
  { config, brakes }: App<'local'>,
  done: ApprovalOutcome,
  seen: Seen,
): Promise<Result> {
  const { kind, batch, others, released } = done;
  const { by, at, digest } = done.approval;
  const line =
    kind === 'approved'
      ? `${batch}: approved by ${by}, digest ${digest.slice(0, 12)}`
      : `${batch}: already approved by ${by} ${terminalOf(context, config, at).time(at)}`;
  const json = { shape: 'approve', fields: { ...approveJson(done), ...seen } } as const;
  if (released === null) {
    const held = holdTexts(others, batch);
    const lines = [line, ...held.map((reason) => `  still held: ${reason}`)];
    return { isNews: true, code: held.length > 0 ? 4 : 0, screen: { blocks: [lines] }, json };
  }
  const dated = (await brakes.waits({ batches: [batch] })).filter((one) => one.kind === 'date');
  const moved = released.moved - dated.reduce((sum, { count }) => sum + count, 0);
  const submit = submitCommand(config.mode);
  const stays = holdTexts(released.stays, batch);
  const said = [
    `${line}; ${counted(moved, 'payout')} may go now: ${submit} or serve sends them`,
    ...waitingLines(dated, config, terminalOf(context, config, at)).map((text) => `  ${text}`),
    ...notReleasedLines(released),
    ...stayTexts(released.stays, { seen: [], batch }).map((text) => `  ${text}`),
  ];
  return {
    isNews: true,
    code: stays.length > 0 || notReleased(released) ? 4 : 0,
    screen: { blocks: [said], end: { Next: moved > 0 ? submit : '' } },
    json,
  };
}

function orderLines(
  { batch, shown }: Shown,
  about: { compared: readonly string[]; warnings: readonly string[]; terminal: Terminal },
): string[] {
  const { compared, warnings, terminal } = about;
  const as = batch.dropped_as === '' ? '' : ` as ${batch.dropped_as}`;
  const lines = [
    `${batch.id}   ${counted(shown.rows, 'payout')}   ${totalsText(shown.totals)}`,
    `  ${batch.file_name}, taken in ${terminal.time(batch.created_at)}, dropped by ${batch.dropped_by}${as}`,
    ...compared,
    ...warnings.map((warning) => `  WARNING: ${readable(warning, terminal.time)}`),
    `  digest ${shown.digest.slice(0, 12)}`,
  ];
  return wrapAll(lines, terminal.width, 2);
}
