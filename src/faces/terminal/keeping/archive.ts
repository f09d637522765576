import { DateTime } from 'luxon';
import { counted } from '../../../core/domain/counted.ts';
import { firstInstantOf } from '../../../core/domain/local-day.ts';
import { isLedgerFile } from '../../../core/storage/place.ts';
import type { Archived, ArchiveStep } from '../../../custody/archive/archive-ledger.ts';
import { custodyText } from '../../../words/custody-words.ts';
import { loadSettings } from '../context/context.ts';
import { demandLedger } from '../context/ledger-there.ts';
import { type Result, Stop } from '../context/result.ts';
import { alone } from '../context/who-is-there.ts';
import type { Handler } from '../context/world.ts';
import { sizeText } from '../kit/size-text.ts';

/** `archive --before DATE`: moves closed months into a file beside the ledger. Stops with 11 beside another process. */
export const archive: Handler = async (context, _args, options) => {
  const config = await loadSettings(context);
  const before = instantOf(typeof options.before === 'string' ? options.before : '', config.reports.timezone);
  await demandLedger(config);
  const { ledgerPlace: place } = config;
  if (!isLedgerFile(place))
    throw new Stop(
      'this version archives a ledger in a SQLite file only: on PostgreSQL, let partitions or a larger disk hold closed months. Nothing was changed',
    );
  const { archiveLedger } = await import('../../../custody/archive/archive-ledger.ts');
  const { assertNotHalfSwapped } = await import('../../../custody/swap.ts');
  const { systemClock } = await import('../../../core/runtime/clock.ts');
  return alone(config, 'archive', async () => {
    assertNotHalfSwapped(place.path);
    const onStep = (step: ArchiveStep): void => {
      if (!context.options.quiet) context.say(steps[step]);
    };
    return describe(await archiveLedger({ path: place.path, before, now: systemClock().iso, onStep }));
  });
};

const steps: Record<ArchiveStep, string> = {
  copy: 'copying closed months into the archive',
  prove: 'proving the archive',
  strip: 'taking them out of the ledger',
  shrink: 'shrinking the ledger',
};

/** The instant at which a day or a month begins in the reports' time zone, ISO UTC. */
function instantOf(text: string, zone: string): string {
  const at = /^\d{4}-\d\d(-\d\d)?$/.test(text) ? firstInstantOf(DateTime.fromISO(text, { zone })) : null;
  if (!at?.isValid)
    throw new Stop(
      'say before when: --before YYYY-MM-DD. Months that are closed and ended by then are archived',
    );
  return at.toJSDate().toISOString();
}

function describe(done: Archived): Result {
  if (done.kind === 'refused') throw new Stop(custodyText(done.why), 1);
  const left =
    done.left === 0
      ? []
      : [
          `${counted(done.left, 'batch', 'batches')} of these months ${done.left === 1 ? 'stays' : 'stay'} in the ledger: not every payout has ended, or something is open`,
        ];
  if (done.kind === 'nothing')
    return {
      code: 0,
      lines: [`nothing to archive through ${done.month}`, ...left],
      json: { shape: 'archive', fields: { archived: false, month: done.month, left: done.left } },
    };
  const { file, month, batches, payouts, runs, bytes } = done;
  return {
    code: 0,
    lines: [
      `${file}: ${counted(payouts, 'payout')} in ${counted(batches, 'batch', 'batches')} and ${counted(runs, 'run')} through ${month}, ${sizeText(bytes.archive)}`,
      bytes.after < bytes.before
        ? `the ledger shrank from ${sizeText(bytes.before)} to ${sizeText(bytes.after)}`
        : `the ledger takes ${sizeText(bytes.after)} as before: new rows fill what became free`,
      ...left,
      'Keep the file where it is, and keep a copy elsewhere: counterfoil backup copies the ledger without it',
      'Next: counterfoil verify proves both',
    ],
    json: {
      shape: 'archive',
      fields: { archived: true, file, month, batches, payouts, runs, left: done.left, bytes },
    },
  };
}
