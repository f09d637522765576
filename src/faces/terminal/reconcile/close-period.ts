import { amountText, counted } from '../../../core/domain/counted.ts';
import { closePeriodVerb } from '../../../verbs/close-period.ts';
import { periodWarningTexts } from '../../../words/period-words.ts';
import { readable } from '../../../words/readable.ts';
import { orderer, stopFor } from '../context/person.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { fileLines } from '../kit/file-lines.ts';
import { terminalOf } from '../kit/terminal.ts';

/** `close-period MONTH`: closes the month and names what is unresolved. Stops with 2 when it cannot be closed. */
export async function closePeriod(context: Context, args: string[]): Promise<Result> {
  const [month = ''] = args;
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const { time } = terminalOf(context, app.config, app.clock.iso());
    const done = await closePeriodVerb.run(app, { month }, orderer(context));
    if (done.kind === 'refused') throw new Stop(readable(stopFor(done).message, time));
    const { period, statement, reports } = done;
    const warnings = done.warnings.map((one) => periodWarningTexts(one).command);
    if (!context.options.quiet) for (const warning of warnings) context.say(`warning: ${warning}`);
    const lines = [
      `${month} is closed: ${time(period.starts_at)} up to ${time(period.ends_at)} (${period.timezone})`,
      ...statement.flatMap(({ currency, line, count, amount }) =>
        line === 'opening' || line === 'closing'
          ? [`  ${line.padEnd(8)} ${amountText(currency, amount)}   ${counted(count, 'payout')}`]
          : [],
      ),
      ...(statement.length === 0 ? [`  ${emptyText(period.ends_at <= app.ledger.birth)}`] : []),
      `  closed by ${period.closed_by}`,
      `  digest   ${period.digest}`,
    ];
    const fields = {
      month,
      starts_at: period.starts_at,
      ends_at: period.ends_at,
      timezone: period.timezone,
      closed_at: period.closed_at,
      closed_by: period.closed_by,
      run: period.run_id,
      digest: period.digest,
      statement: statement.map(({ currency, line, count, amount }) => {
        return { currency, line, count: Number(count), amount };
      }),
      warnings,
      reports,
    };
    return {
      isNews: true,
      code: 0,
      screen: { blocks: [lines, fileLines(context, reports)] },
      json: { shape: 'close-period', fields },
    };
  });
}

/** What a month without a line of its statement means; `before`: it ended before this ledger began. */
function emptyText(before: boolean): string {
  return before
    ? 'No payout is known of it: this ledger began later.'
    : 'No money moved in it, and no payout was under way.';
}
