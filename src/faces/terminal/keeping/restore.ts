import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { counted } from '../../../core/domain/counted.ts';
import type { Mode } from '../../../core/domain/payout.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import { isLedgerFile, type Place, placeName } from '../../../core/storage/place.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { custodyText, upgradeText } from '../../../words/custody-words.ts';
import { confirm, loadSettings } from '../context/context.ts';
import { type Result, Stop } from '../context/result.ts';
import { alone } from '../context/who-is-there.ts';
import type { Context, Handler } from '../context/world.ts';

type Plan = { path: string; place: Place; mode: Mode; file: string | undefined; adopt: boolean };
type Done = {
  finished: string | null;
  restored: string | null;
  aside: string | null;
  unknown: number | null;
};

/**
 * `restore [FILE] [--adopt]`: replaces the ledger with a backup, adopts it, or both. Without either it finishes an
 * interrupted restore. Stops with 11 while another process uses the ledger.
 */
export const restore: Handler = async (context, args, options) => {
  const config = await loadSettings(context);
  const { isHalfSwapped } = await import('../../../custody/swap.ts');
  const { ledgerFile: path, ledgerPlace: place, mode } = config;
  const file = args[0] === undefined ? undefined : resolve(context.cwd, args[0]);
  const plan: Plan = { path, place, mode, file, adopt: Boolean(options.adopt) };
  await refuse(plan, isHalfSwapped(path));
  await confirm(context, question(plan));
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return alone(config, 'restore', async () => describe(await carryOut(context, plan), plan));
};

async function refuse({ path, place, file, adopt }: Plan, halfDone: boolean): Promise<void> {
  if (!isLedgerFile(place) && file !== undefined)
    throw new Stop(
      'restore a PostgreSQL ledger with its own tools (pg_restore, or point-in-time recovery); then counterfoil restore --adopt makes it safe to use',
    );
  if (file === undefined && !adopt && !halfDone)
    throw new Stop('name a backup file, or say --adopt for the ledger that is in place');
  if (file === path) throw new Stop(`${file} is the ledger itself`);
  if (file !== undefined && !existsSync(file)) throw new Stop(`there is no file ${file}`);
  if (file !== undefined || halfDone) return;
  const { isLedgerThere } = await import('../../../core/storage/exists.ts');
  if (!(await isLedgerThere(place))) throw new Stop(`there is no ledger at ${placeName(place)}`);
}

function question({ path, file, adopt }: Plan): string {
  const put = file === undefined ? [] : [`Replace ${path} with ${file}, moving the current ledger aside`];
  const forget = adopt
    ? ['mark every ready, held, sending, failed or refused payout as unknown, since it may have been sent']
    : [];
  const both = [...put, ...forget];
  return both.length === 0 ? 'Finish the interrupted restore?' : `${both.join(', and ')}?`;
}

async function carryOut(context: Context, { path, place, mode, file, adopt }: Plan): Promise<Done> {
  const { systemClock } = await import('../../../core/runtime/clock.ts');
  const { isHalfSwapped } = await import('../../../custody/swap.ts');
  const clock = systemClock();
  const { finishRestore, restoreLedger } = await import('../../../custody/restore-ledger.ts');
  const finished = isHalfSwapped(path) ? await finishRestore(path, clock.iso()) : null;
  let aside: string | null = null;
  if (file !== undefined) {
    const restored = await restoreLedger(path, file, clock.iso(), mode);
    if (restored.kind === 'unfit') throw new Stop(custodyText(restored.why), 1);
    ({ aside } = restored);
  }
  try {
    const unknown = adopt ? await adopted(context, { place, mode }, clock) : null;
    return { finished, restored: file ?? null, aside, unknown };
  } catch (error) {
    // The swap is not undone: print where the earlier ledger is, or nobody finds it.
    for (const line of doneSoFar({ finished, restored: file ?? null, aside, unknown: null }, path))
      context.say(line);
    throw error;
  }
}

async function adopted(
  context: Context,
  { place, mode }: Pick<Plan, 'place' | 'mode'>,
  clock: Clock,
): Promise<number> {
  const { openLedger } = await import('../../../custody/open-ledger.ts');
  const { adoptLedger } = await import('../../../custody/adopt.ts');
  const { whyMoved } = await import('../../../custody/mark.ts');
  const { findSeal } = await import('../../../custody/seal.ts');
  // This version also adopts a backup of an earlier one. The backup file itself does not change.
  const { upgradeAlone } = await import('../../../custody/upgrade-ledger.ts');
  const upgraded = await upgradeAlone(place, { mode, now: clock.iso });
  if (upgraded.kind === 'upgraded') context.say(upgradeText(place, upgraded.backup));
  const ledger = await openLedger(place, { now: clock.iso, mode, alone: 'owner' });
  try {
    const wrong = (await findSeal(ledger.db, placeName(place))) ?? whyMoved(ledger.path);
    if (wrong) throw new Stop(reasonText(wrong), 1);
    const { unknown } = await adoptLedger(ledger, clock.iso, (count) => {
      if (context.terminal && !context.options.json && !context.options.quiet)
        context.say(`${counted(count, 'payout')} became unknown`);
    });
    return unknown;
  } finally {
    await ledger.close();
  }
}

function doneSoFar({ finished, restored, aside }: Done, path: string): string[] {
  return [
    ...(finished === null
      ? []
      : [`an interrupted restore was finished; the ledger from before is ${finished}`]),
    ...(restored === null ? [] : [`${restored} is now ${path}`]),
    ...(aside === null ? [] : [`the ledger from before is ${aside}`]),
  ];
}

function describe({ finished, restored, aside, unknown }: Done, { path, place }: Plan): Result {
  const next =
    unknown === null
      ? 'Nothing is sent until counterfoil restore --adopt: this ledger does not know what was sent since'
      : 'Next: counterfoil reconcile --full. Nothing is sent before it has matched a complete listing; then settle or retry what stays unknown';
  return {
    // A person is needed: nothing is sent until a listing is matched.
    code: 4,
    lines: [
      ...doneSoFar({ finished, restored, aside, unknown }, path),
      ...(unknown === null ? [] : [`adopted: ${counted(unknown, 'payout')} became unknown`]),
      next,
    ],
    json: {
      shape: 'restore',
      fields: {
        ledger: placeName(place),
        restored,
        moved_aside: aside ?? finished,
        adopted: unknown !== null,
        unknown,
        next,
      },
    },
  };
}
