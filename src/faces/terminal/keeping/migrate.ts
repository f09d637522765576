import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../../core/settings/settings.ts';
import { isLedgerUrl } from '../../../core/settings/settings-checks.ts';
import {
  isLedgerFile,
  maskedPassword,
  type Place,
  placeName,
  placeNamed,
} from '../../../core/storage/place.ts';
import { adviceText } from '../../../words/advice-text.ts';
import { custodyText } from '../../../words/custody-words.ts';
import { loadSettings } from '../context/context.ts';
import { type Result, Stop } from '../context/result.ts';
import { alone } from '../context/who-is-there.ts';
import type { Context, Handler } from '../context/world.ts';

/** `migrate --to sqlite:FILE` or `--to postgres://…`: moves the ledger permanently. Stops with 11 while another process uses it. */
export const migrate: Handler = async (context, _args, options) => {
  const config = await loadSettings(context);
  if (!isLedgerFile(config.ledgerPlace))
    throw new Stop(
      'this version moves a ledger away from a SQLite file only: PostgreSQL has ways of its own (pg_dump)',
    );
  const target = targetOf(config, typeof options.to === 'string' ? options.to : '');
  const to = placeName(target);
  // It is printed and stored, so without the password.
  const url = isLedgerFile(target) && typeof options.to === 'string' ? options.to : to;
  const from = config.ledgerFile;
  const { moveLedger } = await import('../../../custody/move.ts');
  const { assertNotHalfSwapped } = await import('../../../custody/swap.ts');
  const { systemClock } = await import('../../../core/runtime/clock.ts');
  return alone(config, 'migrate', async () => {
    assertNotHalfSwapped(from);
    // The command asks nothing, so it first prints what cannot be undone.
    if (!context.options.quiet)
      context.say(
        `moving ${from} to ${to} for ever: the old file is sealed, can be read, and never sends again`,
      );
    const onRows = createProgress(context);
    const moved = await moveLedger({
      from,
      to: target,
      url,
      now: systemClock().iso,
      say: adviceText,
      onRows,
    });
    if (moved.kind === 'locked')
      throw new Stop(`another process uses ${to}: stop it, then run migrate again`, 11);
    if (moved.kind === 'refused') throw new Stop(custodyText(moved.why), 1);
    return describe(config, { from, to, url }, moved);
  });
};

function targetOf(config: Config, url: string): Place {
  if (!isLedgerUrl(url))
    throw new Stop(
      'say where to: --to sqlite:FILE (relative to the data folder), or --to postgres://USER@HOST/DATABASE',
    );
  const target = placeNamed(url, config.dataDir);
  const { path } = target;
  if (path === config.ledgerFile) throw new Stop(`${path} is the ledger's present place`);
  if (!existsSync(config.ledgerFile)) throw new Stop(`there is no ledger at ${config.ledgerFile}`);
  if (!existsSync(dirname(path))) throw new Stop(`there is no folder ${dirname(path)}: make it first`);
  return target;
}

function createProgress(context: Context): (rows: number) => void {
  if (!context.terminal || context.options.json || context.options.quiet) return () => undefined;
  let told = 0;
  return (rows) => {
    if (rows - told < 100_000) return;
    told = rows;
    context.say(`${rows} rows copied`);
  };
}

function describe(
  config: Config,
  { from, to, url }: { from: string; to: string; url: string },
  { digest, abandoned, before }: { digest: string; abandoned: number; before: boolean },
): Result {
  const next = url.includes(maskedPassword)
    ? `set COUNTERFOIL_LEDGER_URL to ${url}, with the password in place of ${maskedPassword}, in ${join(config.home, '.env')}`
    : `set ledger.url to ${url} in ${config.configFile}`;
  return {
    code: 0,
    lines: [
      before ? `the ledger was moved to ${to} before` : `the ledger moved to ${to}, digest ${digest}`,
      ...(abandoned > 0 ? [`${abandoned} payouts became unknown: a process died while sending them`] : []),
      `${from} is sealed for ever: it can be read, and sends nothing`,
      `Next: ${next}`,
    ],
    json: {
      shape: 'migrate',
      fields: { from, to, digest, unknown: abandoned, moved_before: before, next },
    },
  };
}
