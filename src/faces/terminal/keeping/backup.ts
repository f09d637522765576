import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { counted } from '../../../core/domain/counted.ts';
import { loadSettings } from '../context/context.ts';
import { demandLedger } from '../context/ledger-there.ts';
import { type Result, Stop } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { closing, pathText } from '../kit/closing.ts';
import { terminalOf } from '../kit/terminal.ts';
import { wrapAll } from '../kit/wrap.ts';

/** `backup FILE`: writes a consistent copy, even while the daemon runs or of another version. Overwrites no file. */
export async function backup(context: Context, args: string[]): Promise<Result> {
  const file = resolve(context.cwd, args[0] ?? '');
  if (existsSync(file)) throw taken(file);
  if (!existsSync(dirname(file))) throw new Stop(`there is no folder ${dirname(file)}: make it first`);
  const config = await loadSettings(context);
  await demandLedger(config);
  const { ledgerPlace: place } = config;
  if (place.kind === 'postgres')
    throw new Stop(
      'a ledger on PostgreSQL is backed up by its database: with pg_dump or with base backups and an archive of its log. However it is put back, counterfoil restore --adopt makes it safe to use',
    );
  const { backupLedger } = await import('../../../custody/make-backup.ts');
  const { enterGate } = await import('../../../custody/custody-gate.ts');
  const { assertNotHalfSwapped } = await import('../../../custody/swap.ts');
  const { systemClock } = await import('../../../core/runtime/clock.ts');
  const at = systemClock().iso();
  const gate = await enterGate(place.path);
  try {
    assertNotHalfSwapped(place.path);
    const made = await backupLedger(place, file, at);
    if (made.kind === 'exists') throw taken(file);
    const { bytes, holds } = made;
    const { time } = terminalOf(context, config, at);
    const what = holds
      ? `${counted(holds.payouts, 'payout')} in ${counted(holds.batches, 'batch', 'batches')}`
      : 'a ledger of another version of Counterfoil';
    const lines = [
      `${pathText(context.cwd, file)}   ${what}   ${time(at)}   ${sizeText(bytes)}`,
      `  However it is put back, it sends nothing until adopted${holds ? '' : ', with the version that the ledger is of'}.`,
      ...closing({ 'To use it': `counterfoil restore ${pathText(context.cwd, file)} --adopt` }),
    ];
    return {
      code: 0,
      lines: wrapAll(lines, context.columns, 2),
      json: {
        shape: 'backup',
        fields: { file, at, bytes, batches: holds?.batches ?? null, payouts: holds?.payouts ?? null },
      },
    };
  } finally {
    gate.release();
  }
}

/** `0.9 MiB`. */
function sizeText(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function taken(file: string): Stop {
  return new Stop(`${file} is there already and is not overwritten: name a new file`);
}
