import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { type Context, loadSettings } from './context.ts';
import { whoIsThere } from './restore.ts';
import { type Result, Stop } from './result.ts';

/** `migrate --to sqlite:FILE`: moves the ledger for ever. Alone on the ledger, else 11. */
export async function migrate(
  context: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  const config = await loadSettings(context);
  const url = typeof options.to === 'string' ? options.to : '';
  const to = targetOf(config, url);
  const from = config.ledgerFile;
  const { shutGate } = await import('../ledger/gate.ts');
  const { moveLedger } = await import('../ledger/move.ts');
  const { assertNotHalfSwapped } = await import('../ledger/swap.ts');
  const { systemClock } = await import('../runtime/clock.ts');
  const gate = await shutGate(from);
  if (!gate) throw new Stop(11, await whoIsThere(config, 'migrate'));
  try {
    assertNotHalfSwapped(from);
    // It asks nothing, so it says first what cannot be taken back.
    if (!context.options.quiet)
      context.say(
        `moving ${from} to ${to} for ever: the old file is sealed, can be read, and never sends again`,
      );
    const moved = await moveLedger({ from, to, url, now: systemClock().iso });
    if (moved.kind === 'locked')
      throw new Stop(11, `another process uses ${to}: stop it, then run migrate again`);
    if (moved.kind === 'refused') throw new Stop(1, moved.why);
    return describe(config, { from, to, url }, moved);
  } finally {
    gate.release();
  }
}

function targetOf(config: Config, url: string): string {
  if (url.startsWith('postgres'))
    throw new Stop(2, 'this version moves a ledger to SQLite files only: say --to sqlite:FILE');
  const [, name] = /^sqlite:(?:\/\/(?=\/))?(?!:memory:)(.+)$/.exec(url) ?? [];
  if (name === undefined) throw new Stop(2, 'say where to: --to sqlite:FILE (relative to the data folder)');
  const to = resolve(config.dataDir, name);
  if (to === config.ledgerFile) throw new Stop(2, `${to} is where the ledger lies now`);
  if (!existsSync(config.ledgerFile)) throw new Stop(2, `there is no ledger at ${config.ledgerFile}`);
  if (!existsSync(dirname(to))) throw new Stop(2, `there is no folder ${dirname(to)}: make it first`);
  return to;
}

function describe(
  config: Config,
  { from, to, url }: { from: string; to: string; url: string },
  { digest, abandoned, before }: { digest: string; abandoned: number; before: boolean },
): Result {
  const next = `set ledger.url to ${url} in ${config.configFile}`;
  return {
    code: 0,
    lines: [
      before ? `the ledger was moved to ${to} before` : `the ledger moved to ${to}, digest ${digest}`,
      ...(abandoned > 0 ? [`${abandoned} payouts became unknown: a process died while sending them`] : []),
      `${from} is sealed for ever: it can be read, and sends nothing`,
      `Next: ${next}`,
    ],
    json: { from, to, digest, unknown: abandoned, moved_before: before, next },
  };
}
