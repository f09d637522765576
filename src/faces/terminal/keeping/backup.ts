import { resolve } from 'node:path';
import { counted } from '../../../core/domain/counted.ts';
import { systemClock } from '../../../core/runtime/clock.ts';
import { backupVerb } from '../../../verbs/backup.ts';
import { shellWord } from '../../../words/readable.ts';
import { loadSettings } from '../context/context.ts';
import { demandLedger } from '../context/ledger-there.ts';
import { orderer, stopFor } from '../context/person.ts';
import type { Result } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { pathText } from '../kit/file-lines.ts';
import { terminalOf } from '../kit/terminal.ts';

/** `backup FILE`: writes a consistent copy, even while the daemon runs or of another version. Overwrites no file. */
export async function backup(context: Context, args: string[]): Promise<Result> {
  const order = { file: resolve(context.cwd, args[0] ?? '') };
  const config = await loadSettings(context);
  await demandLedger(config);
  const done = await backupVerb.run({ config, clock: systemClock() }, order, orderer(context));
  if (done.kind === 'refused') throw stopFor(done);
  const { file, at, bytes, holds } = done;
  const { time } = terminalOf(context, config, at);
  const what = holds
    ? `${counted(holds.payouts, 'payout')} in ${counted(holds.batches, 'batch', 'batches')}`
    : 'a ledger of another version of Counterfoil';
  const lines = [
    `${pathText(context.cwd, file)}   ${what}   ${time(at)}   ${sizeText(bytes)}`,
    `  However it is put back, it sends nothing until adopted${holds ? '' : ', with the version that the ledger is of'}.`,
  ];
  return {
    code: 0,
    screen: {
      blocks: [lines],
      end: { 'To use it': `counterfoil restore ${shellWord(pathText(context.cwd, file))} --adopt` },
    },
    json: {
      shape: 'backup',
      fields: { file, at, bytes, batches: holds?.batches ?? null, payouts: holds?.payouts ?? null },
    },
  };
}

/** `0.9 MiB`. */
function sizeText(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
