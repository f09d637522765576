import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Context, withLocal } from './context.ts';
import { type Result, Stop } from './result.ts';

/** `backup FILE`: a consistent copy while the daemon runs; never over an existing file. */
export async function backup(context: Context, args: string[]): Promise<Result> {
  const file = resolve(context.cwd, args[0] ?? '');
  if (existsSync(file)) throw taken(file);
  if (!existsSync(dirname(file))) throw new Stop(2, `there is no folder ${dirname(file)}: make it first`);
  return withLocal(context, async (app) => {
    if (app.ledger.place.kind === 'postgres')
      throw new Stop(
        2,
        'a ledger on PostgreSQL is backed up by its database: with pg_dump or with base backups and an archive of its log. However it is put back, counterfoil restore --adopt makes it safe to use',
      );
    const { backupLedger } = await import('../ledger/custody/backup.ts');
    const at = app.clock.iso();
    const made = await backupLedger(app.ledger, file, at);
    if (made.kind === 'exists') throw taken(file);
    const { bytes, batches, payouts } = made;
    return {
      code: 0,
      lines: [
        `${file}: ${payouts} payouts in ${batches} batches as of ${at}, ${bytes} bytes`,
        'To use it: counterfoil restore FILE --adopt. However it is put back, it sends nothing until adopted',
      ],
      json: { file, at, bytes, batches, payouts },
    };
  });
}

function taken(file: string): Stop {
  return new Stop(2, `${file} is there already and is not overwritten: name a new file`);
}
