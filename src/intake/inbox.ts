import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { knownEnding, readEnding, readEndings, textEnding } from '../core/domain/file-formats.ts';
import type { WaitingFile, WhyWaiting } from '../core/domain/waiting-file.ts';
import type { Clock } from '../core/runtime/clock.ts';
import { hasControl } from './control.ts';
import { harmlessName, isProblemSheet } from './file-name.ts';
import { openWriters } from './open-writers.ts';
import { endsInLineEnd, unendedMs } from './unfinished.ts';

/** The folder for files of expected collections, below the inbox. */
export const collectionsFolder = 'collections';

/** A file that stays in the inbox, and why. `name` is safe to print. */
export type Ignored = { name: string; why: string };
/** The files of the inbox: `ready` ones may be taken, `waiting` ones may still be being written. */
export type InboxScan = { ready: string[]; waiting: WaitingFile[]; ignored: Ignored[] };

/** How many files wait for intake, which of them are visibly unfinished, and what is ignored. */
export type Lying = { files: number; waiting: WaitingFile[]; ignored: Ignored[] };

type FirstLook = { mark: string; since: number };
type File = { vouched: boolean; seen: FirstLook };
type Look = { files: Map<string, File>; ignored: Ignored[] };

/**
 * Returns a scan of the inbox that finds the whole files. Files that a process has open for writing are never
 * whole. A file is whole when its marker or its control figures lie beside it. It is also whole when its
 * size, times and inode were equal at two looks `settleMs` apart (0: immediately). A file without a final
 * line end may be cut, so it waits a minute more. The scan remembers its looks, so a daemon waits only for
 * new files.
 */
export function inboxGate(deps: { inbox: string; clock: Clock; settleMs: number }): () => Promise<InboxScan> {
  const { inbox, clock, settleMs } = deps;
  let seen = new Map<string, FirstLook>();

  async function look(): Promise<Look> {
    const { names, batches, ignored } = await sift(inbox);
    const files: Look['files'] = new Map();
    for (const [name, stat] of batches) {
      // A control file that has just appeared restarts the wait, since it may be half written.
      const mark = `${markOf(stat)} ${names.has(`${name}.control.json`)}`;
      const before = seen.get(name);
      const since = before?.mark === mark ? before.since : clock.monotonic();
      files.set(name, { vouched: await isVouched(inbox, name, names), seen: { mark, since } });
    }
    seen = new Map([...files].map(([name, file]) => [name, file.seen]));
    return { files, ignored };
  }

  /** Why a file must still wait for time to pass; null when it has waited long enough. */
  async function waitOf(name: string, file: File): Promise<WhyWaiting | null> {
    const age = clock.monotonic() - file.seen.since;
    if (file.vouched || settleMs === 0) return null;
    if (age < settleMs) return { kind: 'settling' };
    const leftMs = settleMs + unendedMs - age;
    if (leftMs <= 0 || (await isEnded(inbox, name))) return null;
    return { kind: 'no_line_end', leftMs };
  }

  async function judge({ files, ignored }: Look): Promise<InboxScan> {
    const waiting: WaitingFile[] = [];
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

/** Lists the inbox and its folder of expected collections: what intake will take or refuse once it is whole. */
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

/** Returns the files that are unfinished by a single look. */
async function seenUnfinished(folder: string, { names, batches }: Folder): Promise<WaitingFile[]> {
  const open = await openAmong(folder, [...batches.keys()]);
  const waiting = [...open];
  for (const name of batches.keys()) {
    if (open.some((one) => one.name === name)) continue;
    if ((await isVouched(folder, name, names)) || (await isEnded(folder, name))) continue;
    waiting.push({ name, why: { kind: 'no_line_end', leftMs: unendedMs } });
  }
  return waiting;
}

async function openAmong(folder: string, names: readonly string[]): Promise<WaitingFile[]> {
  const writers = await openWriters(names.map((name) => join(folder, name)));
  return names.flatMap((name) => {
    const own = writers.get(join(folder, name));
    return own ? [{ name, why: { kind: 'open' as const, writers: own } }] : [];
  });
}

/** Whether a marker or complete control figures say that the file is whole. */
async function isVouched(folder: string, name: string, names: ReadonlySet<string>): Promise<boolean> {
  if (names.has(`${name}.done`)) return true;
  return names.has(`${name}.control.json`) && (await hasControl(join(folder, name)));
}

/** Whether a file ends with a line end. True for one that is not made of lines, by its name. */
async function isEnded(folder: string, name: string): Promise<boolean> {
  return !textEnding.test(name) || (await endsInLineEnd(join(folder, name)));
}

/** Names an ignored file of expected collections as seen from the inbox. */
export function belowInbox({ name, why }: Ignored): Ignored {
  return { name: `${collectionsFolder}/${name}`, why };
}

type Folder = { names: Set<string>; batches: Map<string, Stats>; ignored: Ignored[] };

/** Sorts a folder into batches and ignored files; `names` holds all names. */
async function sift(folder: string): Promise<Folder> {
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

/**
 * Returns the names in a folder; none where it is absent. `foreign`: names that are not UTF-8, which cannot
 * be opened.
 */
async function namesIn(folder: string): Promise<{ names: Set<string>; foreign: string[] }> {
  const entries = await readdir(folder, { encoding: 'buffer' }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const names = new Set<string>();
  const foreign: string[] = [];
  for (const bytes of entries) {
    const name = bytes.toString('utf8');
    if (Buffer.from(name).equals(bytes)) names.add(name);
    else foreign.push(harmlessName(name));
  }
  return { names, foreign };
}

function markOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/**
 * Whether intake takes or refuses a file of this name: a batch, or a spreadsheet, which needs an explanation.
 */
function isBatchName(name: string): boolean {
  return !name.startsWith('.') && knownEnding.test(name);
}

/**
 * Returns why an entry is ignored. Null: it may be a batch, belongs to one, or is hidden, as half an upload
 * is.
 */
function whyIgnored(name: string, stat: Stats): string | null {
  if (name.startsWith('.')) return null;
  if (!isBatchName(name)) {
    const belongs = /\.(done|control\.json)$/i.test(name) || !stat.isFile();
    return belongs ? null : `its name does not end in ${readEndings}; rename it if it is a batch`;
  }
  if (isProblemSheet(name)) return 'it lists the problems of a file and is no batch; remove it';
  if (/\.(tmp|part)$/i.test(name.replace(readEnding, '')))
    return 'its name says that it is not finished; rename it when it is';
  if (stat.isFile()) return null;
  const kind = stat.isSymbolicLink() ? 'a link' : stat.isDirectory() ? 'a folder' : 'no regular file';
  return `it is ${kind}; put the file itself here`;
}
