import type { Check, Verdict } from '../custody/verify-ledger.ts';
import { counted } from '../domain/counted.ts';
import { nameOf } from '../storage/place.ts';
import { hushed, loadSettings } from './context.ts';
import { demandLedger } from './ledger-there.ts';
import type { Result } from './result.ts';
import { withApp } from './with-app.ts';
import type { Context } from './world.ts';

/** `verify`: exits 0 when the ledger is proven, else 1. */
export async function verify(context: Context): Promise<Result> {
  // A missing ledger proves nothing.
  await demandLedger(await loadSettings(context));
  return withApp(hushed(context), { level: 'local', use: 'reads' }, async (app) => {
    const { verifyLedger } = await import('../custody/verify-ledger.ts');
    const verdict = await verifyLedger(app.ledger.place, (payouts) => {
      if (context.terminal && !context.options.json && !context.options.quiet)
        context.say(`verified ${counted(payouts, 'payout')}`);
    });
    return describe(verdict, nameOf(app.ledger.place));
  });
}

function describe({ ok, checks, batches }: Verdict, path: string): Result {
  const lines = [
    ...checks.flatMap(checkLines),
    '',
    ...batches.map(
      ({ batch, payouts, digest, certificate }) =>
        `${batch}: ${count(payouts, 'payout')}, ${sendsText(certificate)}; at most once: ${certificate.at_most_once ? 'proven' : 'NOT PROVEN'}; digest ${digest}`,
    ),
    ok ? 'the ledger is proven' : 'the ledger is NOT proven',
  ];
  const failed = checks.filter((check) => !check.ok).map((check) => check.name);
  return {
    code: ok ? 0 : 1,
    ...(!ok && {
      problem: `${path} is not proven (${failed.join(', ')}). Stop sending (counterfoil hold --mode), keep a copy of the file, and compare it with the last backup`,
    }),
    lines,
    json: { ok, checks, batches },
  };
}

/** Explains why there may be more sends than payouts. */
function sendsText({ sends, decisions, not_taken }: Verdict['batches'][number]['certificate']): string {
  const why = [
    ...(not_taken > 0 ? [`${not_taken} proven not taken by the service`] : []),
    ...(decisions > 0 ? [`${decisions} ordered again by a decision`] : []),
  ];
  return `${count(sends, 'send')}${why.length > 0 ? ` (${why.join(', ')})` : ''}`;
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

function checkLines({ name, ok, problems, more }: Check): string[] {
  return [
    `${name.padEnd(14)} ${ok ? 'ok' : 'FAILED'}`,
    ...problems.map((problem) => `  ${problem}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
