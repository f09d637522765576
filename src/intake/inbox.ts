import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Waiting, WhyWaiting } from '../domain/waiting-file.ts';
import type { Clock } from '../runtime/clock.ts';
import { hasControl } from './control.ts';
import { harmlessName } from './file-name.ts';
import { spreadsheetEnding } from './not-csv.ts';
import { openWriters } from './open-writers.ts';
import { endsInLineEnd, unendedMs } from './unfinished.ts';

/** Where files of expected collections are dropped, below the inbox. */
export const collectionsFolder = 'collections';

/** What is left where it lies, and why. `name` can be shown as it is. */
export type Ignored = { name: string; why: string };
/** Which files of the inbox are whole: `ready` may be taken, `waiting` may still be being written. */
export type InboxScan = { ready: string[]; waiting: Waiting[]; ignored: Ignored[] };

/** How many files wait to be taken in, or refused, which of them are seen to be unfinished, and what is left where it lies. */
export type Lying = { files: number; waiting: Waiting[]; ignored: Ignored[] };

type Seen = { mark: string; since: number };
type File = { vouched: boolean; seen: Seen };
type Look = { files: Map<string, File>; ignored: Ignored[] };

/**
 * The gate of the inbox. A file is whole when nobody has it open for writing and its marker or its control figures stand
 * beside it, or when its size, times and inode were the same at two looks `settleMs` apart (0: at once). One without a line
 * end at its end may have been cut there: it waits a minute more. Remembers its looks, so that a daemon waits only for new
 * files.
 */
export function inboxGate(deps: { inbox: string; clock: Clock; settleMs: number }): () => Promise<InboxScan> {
  const { inbox, clock, settleMs } = deps;
  let seen = new Map<string, Seen>();

  async function look(): Promise<Look> {
    const { names, batches, ignored } = await sift(inbox);
    const files: Look['files'] = new Map();
    for (const [name, stat] of batches) {
      // Control figures that have just begun to be written are given the same time.
      const mark = `${markOf(stat)} ${names.has(`${name}.control.json`)}`;
      const before = seen.get(name);
      const since = before?.mark === mark ? before.since : clock.monotonic();
      files.set(name, { vouched: await isVouched(inbox, name, names), seen: { mark, since } });
    }
    seen = new Map([...files].map(([name, file]) => [name, file.seen]));
    return { files, ignored };
  }

  /** Why a file waits as far as time is concerned; null for one that has waited long enough. */
  async function waitOf(name: string, file: File): Promise<WhyWaiting | null> {
    const age = clock.monotonic() - file.seen.since;
    if (file.vouched || settleMs === 0) return null;
    if (age < settleMs) return { kind: 'settling' };
    const leftMs = settleMs + unendedMs - age;
    if (leftMs <= 0 || (await isEnded(inbox, name))) return null;
    return { kind: 'no_line_end', leftMs };
  }

  async function judge({ files, ignored }: Look): Promise<InboxScan> {
    const waiting: Waiting[] = [];
    const settled: string[] = [];
    for (const [name, file] of files) {
      const why = await waitOf(name, file);
      if (why === null) settled.push(name);
      else waiting.push({ name, why });
    }
    const open = await openAmong(inbox, settled);
    const ready = settled.filter((name) => !open.some((one) => one.name === name));
    return { ready, waiting: [...waiting, ...open], ignored };
  }

  return async () => {
    const first = await judge(await look());
    if (first.waiting.every(({ why }) => why.kind === 'no_line_end')) return first;
    await clock.sleep(settleMs);
    return judge(await look());
  };
}

/** What lies in the inbox and in its folder of expected collections, and will be taken in or refused once it is whole. */
export async function lyingInInbox(inbox: string): Promise<Lying> {
  const [payouts, expected] = [await sift(inbox), await sift(join(inbox, collectionsFolder))];
  const waiting = [
    ...(await seenUnfinished(inbox, payouts)),
    ...(await seenUnfinished(join(inbox, collectionsFolder), expected)).map(({ name, why }) => ({
      name: `${collectionsFolder}/${name}`,
      why,
    })),
  ];
  return {
    files: payouts.batches.size + expected.batches.size,
    waiting,
    ignored: [...payouts.ignored, ...expected.ignored.map(belowInbox)],
  };
}

/** The files that one look shows to be unfinished. */
async function seenUnfinished(folder: string, { names, batches }: Sifted): Promise<Waiting[]> {
  const open = await openAmong(folder, [...batches.keys()]);
  const waiting = [...open];
  for (const name of batches.keys()) {
    if (open.some((one) => one.name === name)) continue;
    if ((await isVouched(folder, name, names)) || (await isEnded(folder, name))) continue;
    waiting.push({ name, why: { kind: 'no_line_end', leftMs: unendedMs } });
  }
  return waiting;
}

async function openAmong(folder: string, names: readonly string[]): Promise<Waiting[]> {
  const writers = await openWriters(names.map((name) => join(folder, name)));
  return names.flatMap((name) => {
    const own = writers.get(join(folder, name));
    return own ? [{ name, why: { kind: 'open' as const, writers: own } }] : [];
  });
}

/** Whether a marker or control figures say that the file is whole; figures that are still being written do not. */
async function isVouched(folder: string, name: string, names: ReadonlySet<string>): Promise<boolean> {
  if (names.has(`${name}.done`)) return true;
  return names.has(`${name}.control.json`) && (await hasControl(join(folder, name)));
}

/** Whether a file ends with a line end; true for a spreadsheet, which is refused by its name. */
async function isEnded(folder: string, name: string): Promise<boolean> {
  return spreadsheetEnding.test(name) || (await endsInLineEnd(join(folder, name)));
}

/** What is ignored among the expected collections, as seen from the inbox. */
export function belowInbox({ name, why }: Ignored): Ignored {
  return { name: `${collectionsFolder}/${name}`, why };
}

type Sifted = { names: Set<string>; batches: Map<string, Stats>; ignored: Ignored[] };

/** The batches of a folder by name and what is ignored there; `names` are all. */
async function sift(folder: string): Promise<Sifted> {
  const { names, foreign } = await namesIn(folder);
  const batches = new Map<string, Stats>();
  const ignored: Ignored[] = foreign.map((name) => ({ name, why: 'its name is not UTF-8; rename it' }));
  for (const name of [...names].sort()) {
    const stat = await lstat(join(folder, name)).catch(() => null);
    if (!stat) continue;
    const why = whyIgnored(name, stat);
    if (why !== null) ignored.push({ name: harmlessName(name), why });
    else if (isBatchName(name)) batches.set(name, stat);
  }
  return { names, batches, ignored };
}

/** The names in a folder, none where it is absent; those that are no UTF-8 apart, as nothing can be opened by them. */
async function namesIn(folder: string): Promise<{ names: Set<string>; foreign: string[] }> {
  const found = await readdir(folder, { encoding: 'buffer' }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const names = new Set<string>();
  const foreign: string[] = [];
  for (const bytes of found) {
    const name = bytes.toString('utf8');
    if (Buffer.from(name).equals(bytes)) names.add(name);
    else foreign.push(harmlessName(name));
  }
  return { names, foreign };
}

function markOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/** Names that are taken in or refused: batches, and spreadsheets, which need a sentence. */
function isBatchName(name: string): boolean {
  return !name.startsWith('.') && (/\.csv$/i.test(name) || spreadsheetEnding.test(name));
}

/** Why an entry is left alone, or null: it may be a batch, belongs to one, or is hidden, as half of an upload is. */
function whyIgnored(name: string, stat: Stats): string | null {
  if (name.startsWith('.')) return null;
  if (!isBatchName(name)) {
    const belongs = /\.(done|control\.json)$/i.test(name) || !stat.isFile();
    return belongs ? null : 'its name does not end in .csv; rename it if it is a batch';
  }
  if (/\.errors\.csv$/i.test(name)) return 'it lists the problems of a file and is no batch; remove it';
  if (/\.(tmp|part)\.csv$/i.test(name)) return 'its name says that it is not finished; rename it when it is';
  if (stat.isFile()) return null;
  const kind = stat.isSymbolicLink() ? 'a link' : stat.isDirectory() ? 'a folder' : 'no regular file';
  return `it is ${kind}; put the file itself here`;
}
