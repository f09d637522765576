import { counted, grouped } from '../../../core/domain/counted.ts';
import { placeName } from '../../../core/storage/place.ts';
import type { Verification } from '../../../custody/verify-ledger.ts';
import { wordedChecks } from '../../../words/verify-words.ts';
import { waivedJson } from '../../json/status-json.ts';
import { hushed, loadSettings } from '../context/context.ts';
import { demandLedger } from '../context/ledger-there.ts';
import type { Result } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { waivedText } from '../kit/describe.ts';
import { type Terminal, terminalOf } from '../kit/terminal.ts';

/** `verify`: exits 0 when the ledger is proven, else 1. */
export async function verify(context: Context): Promise<Result> {
  // A missing ledger proves nothing.
  await demandLedger(await loadSettings(context));
  return withApp(hushed(context), { level: 'local', use: 'reads' }, async (app) => {
    const { verifyLedger } = await import('../../../custody/verify-ledger.ts');
    const verdict = await verifyLedger(app.ledger.place, (payouts) => {
      if (context.terminal && !context.options.json && !context.options.quiet)
        context.say(`verified ${counted(payouts, 'payout')}`);
    });
    return describe(verdict, placeName(app.ledger.place), terminalOf(context, app.config, app.clock.iso()));
  });
}

function describe(verdict: Verification, path: string, terminal: Terminal): Result {
  const { ok, batches, waived } = verdict;
  const checks = wordedChecks(verdict.checks);
  const blocks = [
    checkLines(checks),
    batches.length > 0 ? [...batchTable(batches, terminal), ...batches.flatMap(sendsLines)] : [],
    waived.map((one) => waivedText(one, terminal.time)),
    [terminal.paint(ok ? 'good' : 'bad', ok ? 'The ledger is proven.' : 'The ledger is NOT proven.')],
  ];
  const failed = checks.filter((check) => !check.ok).map((check) => check.name);
  return {
    code: ok ? 0 : 1,
    ...(!ok && {
      problem: `${path} is not proven (${failed.join(', ')}). Stop sending (counterfoil hold --mode), keep a copy of the file, and compare it with the last backup`,
    }),
    screen: { blocks },
    json: {
      shape: 'verify',
      fields: { ok, checks, batches, waived_listings: waived.map(waivedJson) },
    },
  };
}

/** Explains why there may be more sends than payouts. */
function sendsLines({ batch, certificate }: Verification['batches'][number]): string[] {
  const { decisions, not_taken: notTaken } = certificate;
  const why = [
    ...(notTaken > 0 ? [`${notTaken} proven not taken by the service`] : []),
    ...(decisions > 0 ? [`${decisions} ordered again by a decision`] : []),
  ];
  return why.length === 0 ? [] : [`  ${batch}: ${why.join(', ')}`];
}

/** Its digest proves a batch to others: the first characters name it, `--json` has all of it. */
function batchTable(batches: Verification['batches'], { table }: Terminal): string[] {
  return table(
    [
      { title: 'Batch', cell: ({ batch }) => batch },
      { title: 'Payouts', right: true, cell: ({ payouts }) => grouped(`${payouts}`) },
      { title: 'Sends', right: true, cell: ({ certificate: { sends } }) => grouped(`${sends}`) },
      {
        title: 'At most once',
        cell: ({ certificate: { at_most_once: once } }) => ({
          text: once ? 'proven' : 'NOT PROVEN',
          colour: once ? 'good' : 'bad',
        }),
      },
      { title: 'Digest', cell: ({ digest }) => digest.slice(0, 12) },
    ],
    batches,
  );
}

/** The checks that passed in one line, then each that failed with its problems. */
function checkLines(checks: ReturnType<typeof wordedChecks>): string[] {
  const passed = checks.filter(({ ok }) => ok).map(({ name }) => name.replaceAll('_', ' '));
  return [
    ...(passed.length > 0 ? [`Checked: ${passed.join(', ')}`] : []),
    ...checks.flatMap(({ name, ok, problems, more }) =>
      ok
        ? []
        : [
            `${name.padEnd(14)} FAILED`,
            ...problems.map((problem) => `  ${problem}`),
            ...(more > 0 ? [`  and ${more} more`] : []),
          ],
    ),
  ];
}
