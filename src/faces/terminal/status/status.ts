import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import type { BatchCounts } from '../../../core/ledger/batches.ts';
import type { StatusJson } from '../../../core/shapes/status-shapes.ts';
import { findingJson } from '../../../findings/finding.ts';
import { rejectedJson } from '../../../words/rejected-words.ts';
import { heldBecause } from '../batches/batch-lines.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { waivedJson } from '../kit/describe.ts';
import { terminalOf } from '../kit/terminal.ts';
import { statusScreen } from './status-lines.ts';
import { type StatusFacts, statusFacts } from './status-standing.ts';
import { withheldJson } from './unknown-lines.ts';

/** `status`: shows where everything stands, also that no daemon runs or files wait. */
export const status: Handler = async (context, _args, options) => {
  if (options.metrics === true && context.options.json) throw new Stop('name --json or --metrics, not both');
  if (options.metrics === true) return (await import('./status-metrics.ts')).statusMetrics(context);
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const terminal = terminalOf(context, app.config, app.clock.iso());
    const standing = await statusFacts(app, terminal);
    const { mode } = app.config;
    return {
      code: standing.findings.length > 0 ? 4 : 0,
      screen: statusScreen(standing, { mode }),
      json: { shape: 'status', fields: { mode, ...jsonOf(standing) } },
    };
  });
};

function jsonOf(standing: StatusFacts): Omit<StatusJson, 'mode'> {
  const { overview, discrepancies, webhooks, lookUps, collections, queue, inbox, halted, daemon, needed } =
    standing;
  return {
    ...overview,
    ...{ discrepancies, webhooks, look_ups: lookUps, collections, queue },
    inbox: { ...inbox, rejected: standing.rejected.map(rejectedJson) },
    batches: standing.batches.map(batchJson),
    last_run: lastRunJson(standing.lastRun),
    halted: halted ? { cause: halted.cause, at: halted.at, kinds: halted.kinds } : null,
    waived_listing: standing.waived ? waivedJson(standing.waived) : null,
    daemon,
    schedules: standing.jobs.map(
      ({ expression: _expression, here: _here, finding: _finding, ...job }) => job,
    ),
    alerts: standing.alerts.json,
    unknown: needed.unknown.first.map(({ reference }) => reference),
    withheld: withheldJson(needed.withheld),
    ...standing.brakes.json,
    ...standing.promised.json,
    findings: standing.findings.map(findingJson),
  };
}

function batchJson({ batch, state, counts, totals }: BatchCounts) {
  return {
    batch: batch.id,
    file: batch.file_name,
    rows: Number(batch.row_count),
    state,
    payouts: counts,
    totals,
    hold_reasons: heldBecause(batch, state),
  };
}

function lastRunJson(last: LastRun | undefined) {
  if (!last) return null;
  const { run, startedAt, list, verdict, currencies } = last;
  const verdicts = Object.fromEntries(currencies.map((one) => [one.currency, one.verdict]));
  return { run, started_at: startedAt, list, verdict, verdicts };
}
