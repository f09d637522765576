import { z } from 'zod';
import type { App } from '../app/app.ts';
import type { WaitingFile } from '../core/domain/waiting-file.ts';
import type { TakenCollections } from '../intake/collection-files.ts';
import type { HandedIn } from '../intake/dropper.ts';
import type { Ignored } from '../intake/inbox.ts';
import type { Took } from '../intake/intake.ts';
import { type Prepared, preparedShape } from '../intake/prepared.ts';
import type { TakenFile } from '../intake/take.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { type Person, verb } from './verb.ts';

/** What a face is told while files are taken in. */
export type TakeInProgress = {
  /** Some files only lack their last line end: all are looked at again after `leftMs`. */
  onWait?(waiting: readonly WaitingFile[], leftMs: number): void;
  /** The files that stay in the inbox. */
  onLeft?(waiting: readonly WaitingFile[], ignored: readonly Ignored[]): void;
};
export type TakeInParts = Pick<App<'local'>, 'intake' | 'clock' | 'paths'> &
  TakeInProgress & { signal: AbortSignal };

/** `expected`: files of expected collections. `givenBack`: rows that a dead process left out, returned now. */
export type TakeInOutcome = {
  kind: 'taken_in';
  taken: TakenFile[];
  expected: TakenCollections[];
  givenBack: Took<TakenFile>['givenBack'];
};

/**
 * `files`: absolute paths; without them, all whole files of the inbox. `figures`: what the only file must hold; `totals`
 * by currency, plain decimals. `payOn`: the day of payment of rows that name none (P38).
 */
export const filesInput = z.strictObject({
  files: z.array(z.string()).min(1).exactOptional(),
  payOn: z.iso.date().exactOptional(),
  figures: z
    .strictObject({
      rows: z.number().int().nonnegative().exactOptional(),
      totals: z.record(z.string(), z.string()).exactOptional(),
    })
    .exactOptional(),
});
type Order = z.infer<typeof filesInput> & { dryRun: boolean; posted?: boolean; prepared?: Prepared };

/** Turns files into batches. Sends nothing, but what it takes may go with the next submit. */
export const takeInVerb = verb({
  name: 'take-in',
  can: 'drop',
  touchesMoney: true,
  /**
   * `dryRun`: checks each file as if it were taken in, and records nothing. `posted`: the files came from the person
   * alone, over the network; what is refused of them is not kept. `prepared`: how people prepared the only file.
   */
  input: filesInput.extend({
    dryRun: z.boolean(),
    posted: z.boolean().exactOptional(),
    prepared: preparedShape.exactOptional(),
  }),
  run: takeIn,
});

export async function takeIn(
  parts: TakeInParts,
  { files, figures, payOn, dryRun, posted = false, prepared }: Order,
  { name, accounts }: Person,
): Promise<TakeInOutcome | Refused> {
  const { intake, signal, onLeft } = parts;
  const day = payOn === undefined ? {} : { payOn };
  if (files) {
    const by: HandedIn = posted
      ? { origin: 'posted', behind: { name, uid: null } }
      : { origin: 'named', behind: accounts.at(-1) ?? null };
    const how = { dryRun, signal, ...figures, ...day, ...(prepared && { prepared }) };
    const took = await intake.takeFiles(files, { ...by, ...how });
    return { kind: 'taken_in', ...took, expected: [] };
  }
  const look = () => intake.takeInbox({ dryRun, signal, ...day, ...(figures && { figures }) });
  const swept = dryRun ? await look() : await patiently(parts, look);
  const { taken, givenBack, waiting, ignored } = swept;
  if (figures && taken.length === 0)
    return refusedFor({ kind: 'not_one_file', inbox: parts.paths.inbox, waiting });
  onLeft?.(waiting, ignored);
  if (dryRun) return { kind: 'taken_in', taken, expected: [], givenBack };
  const expected = await patiently(parts, () => intake.takeCollections({ signal }));
  return {
    kind: 'taken_in',
    taken,
    expected: expected.taken,
    givenBack: [...givenBack, ...expected.givenBack],
  };
}

type Look<T> = Took<T> & { waiting: WaitingFile[] };

/** Looks again after a minute for files that only lack their last line end: no later command remembers this look. */
async function patiently<T, L extends Look<T>>(
  { clock, signal, onWait }: TakeInParts,
  look: () => Promise<L>,
): Promise<L> {
  const first = await look();
  const waits = first.waiting.map(({ why }) => (why.kind === 'no_line_end' ? why.leftMs : 0));
  const leftMs = Math.max(0, ...waits);
  if (leftMs === 0) return first;
  onWait?.(first.waiting, leftMs);
  await clock.sleep(leftMs, signal);
  if (signal.aborted) return first;
  const second = await look();
  const givenBack = [...first.givenBack, ...second.givenBack];
  return { ...second, givenBack, taken: [...first.taken, ...second.taken] };
}

/** The batches that the files became. */
export function batchesOf(taken: readonly TakenFile[]): string[] {
  return taken.flatMap((one) => (one.kind === 'taken' ? [one.batch] : []));
}
