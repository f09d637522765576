import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { App } from '../../../../app/app.ts';
import { endingOf } from '../../../../core/domain/file-formats.ts';
import { visible } from '../../../../core/domain/hidden.ts';
import { findByContentHash } from '../../../../core/ledger/batches.ts';
import type { Mend, Preparer } from '../../../../core/ledger/mends.ts';
import { comparisonShape } from '../../../../core/ledger/payee-comparisons.ts';
import { checkShape } from '../../../../core/shapes/intake-shapes.ts';
import { writeAtomically } from '../../../../core/storage/atomic-file.ts';
import { faultyRows, mendFile } from '../../../../intake/mend.ts';
import { copyWhole } from '../../../../intake/moves.ts';
import { mendShape, type Prepared, preparerShape } from '../../../../intake/prepared.ts';
import { bytesHashOf } from '../../../../intake/read.ts';
import { holdFact } from '../../../../sending/hold-facts.ts';
import { type TakeInOutcome, takeInVerb } from '../../../../verbs/take-in.ts';
import { groupMessages, type MessageGroup, rowNumbersText } from '../../../../words/row-messages.ts';
import { awaitedFolders, keepUpload, keptMs, removeFolder, sweepUploads } from '../../../admin/uploads.ts';
import { checkedJson } from '../../../json/check-json.ts';
import { personOf } from '../actions.ts';

/** So many files may wait for a decision. */
export const mostDrops = 100;
/** So many problems can be mended on the page. */
export const mostMendable = 100;

const prefix = 'upload-';
/** Beside the file: what is known of it, what its check found, and the file from which it was mended. */
const factsName = 'drop.json';
const checkName = 'check.json';
const originalIn = (own: string, name: string): string => join(own, `.original${endingOf(name)}`);

const factsShape = z.object({
  name: z.string(),
  by: z.string(),
  at: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  preparers: z.array(preparerShape),
  mends: z.array(mendShape),
  original: z.object({ bytes: z.number(), sha256: z.string() }).nullable(),
  /** The verdict of the check; null while it runs. */
  checked: z
    .object({ at: z.string(), ok: z.boolean(), problems: z.number(), rows: z.number(), content: z.string() })
    .nullable(),
  /** The file that these changes made of it. */
  mendedAs: z.object({ id: z.string(), changes: z.string() }).nullable(),
});
type Facts = z.infer<typeof factsShape>;
export type Drop = Facts & { id: string };

const foundShape = z.object({
  check: checkShape.shape.files.unwrap().element,
  /** Why the batch would be held. */
  holds: z.array(z.string()),
  /** One for each message, with the number of its rows. */
  warnings: z.array(z.string()),
  cells: z.array(z.object({ row: z.number(), index: z.number(), column: z.string(), text: z.string() })),
  payees: z.record(z.string(), z.string()),
  compared: comparisonShape.nullable().default(null),
});
/** What the check of a file found. */
export type DropCheck = z.infer<typeof foundShape>;

/** The text that a form has for cells, by place (`14.4`): invisible characters stand there as `<U+200B>`. */
export type CellChanges = ReadonlyMap<string, string>;
export type Mended = { kind: 'mended'; id: string } | { kind: 'checked' | 'gone' | 'differs' };

export type Drops = ReturnType<typeof createDrops>;

/** The files that people dropped on the desk and did not decide on yet. Intake does not look there. */
export function createDrops(
  app: Pick<App<'local'>, 'config' | 'clock' | 'ledger' | 'intake' | 'paths'>,
  closing: AbortSignal,
) {
  const { config, clock, ledger, intake } = app;
  const folder = join(config.dataDir, 'drops');
  const ownOf = (id: string): string => join(folder, prefix + id);
  const pathOf = ({ id, name }: Drop): string => join(ownOf(id), name);
  /** The end of the work on each file: two tabs take turns. */
  const turns = new Map<string, Promise<unknown>>();

  async function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = turns.get(id);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    turns.set(id, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(id) === mine) turns.delete(id);
    }
  }

  const keep = ({ id, ...facts }: Drop): Promise<void> =>
    writeAtomically(join(ownOf(id), factsName), JSON.stringify(facts));

  async function find(id: string): Promise<Drop | null> {
    if (!/^[A-Za-z0-9]{6}$/.test(id)) return null;
    const facts = await readFile(join(ownOf(id), factsName), 'utf8').catch(() => null);
    const parsed = factsShape.safeParse(facts === null ? null : jsonIn(facts));
    return parsed.success ? { id, ...parsed.data } : null;
  }

  async function check(drop: Drop): Promise<void> {
    const path = pathOf(drop);
    const checked = await intake.check(path);
    const { ok, problemCount: problems, rows, contentHash: content } = checked;
    const first = { ...checked, problems: checked.problems.slice(0, mostMendable) };
    const changed = (checked.compared?.changes ?? []).map(({ row }) => row);
    const ofRows = checked.rowWarnings.map(({ row, shared: text }) => ({ row, text }));
    const found: DropCheck = {
      check: { ...checkedJson(checked), file: drop.name },
      holds: checked.holdReasons.map(holdFact),
      warnings: [...groupMessages(ofRows).map(warningText), ...checked.fileWarnings],
      ...(await faultyRows(path, first, changed)),
      compared: checked.compared,
    };
    await writeAtomically(join(ownOf(drop.id), checkName), JSON.stringify(found));
    await keep({ ...drop, checked: { at: clock.iso(), ok, problems, rows, content } });
  }

  /** Records a file that lies whole in a folder of its own, and checks it. */
  async function begin(
    { own, path }: { own: string; path: string },
    by: string,
    { preparers = [], mends = [] }: { preparers?: readonly Preparer[]; mends?: readonly Mend[] } = {},
  ): Promise<string> {
    const id = basename(own).slice(prefix.length);
    const drop: Drop = {
      ...{ id, name: basename(path), by, at: clock.iso(), checked: null, mendedAs: null },
      ...(await sizeAndHash(path)),
      preparers: [...preparers],
      mends: [...mends],
      original: mends.length === 0 ? null : await sizeAndHash(originalIn(own, path)),
    };
    await keep(drop);
    await check(drop);
    return id;
  }

  async function sizeAndHash(path: string): Promise<{ bytes: number; sha256: string }> {
    return { bytes: (await stat(path)).size, sha256: (await bytesHashOf(path, config.intake)) ?? '' };
  }

  async function mendInTurn(id: string, changes: CellChanges, by: string): Promise<Mended> {
    const drop = await find(id);
    if (!drop) return { kind: 'gone' };
    const digest = createHash('sha256')
      .update(JSON.stringify([...changes]))
      .digest('hex');
    const { mendedAs } = drop;
    if (mendedAs)
      return mendedAs.changes === digest ? { kind: 'mended', id: mendedAs.id } : { kind: 'differs' };
    const found = await checkOf(drop);
    const cells = (found?.cells ?? []).flatMap((cell) => {
      const text = changes.get(`${cell.row}.${cell.index}`);
      return text === undefined || text === visible(cell.text) ? [] : [{ ...cell, became: unmarked(text) }];
    });
    if (!found || cells.length === 0) {
      await check(drop);
      return { kind: 'checked' };
    }
    const own = await mkdtemp(join(folder, prefix));
    const path = join(own, drop.name);
    const { delimiter } = found.check;
    if (!(await mendFile(pathOf(drop), path, { delimiter, changes: cells }))) {
      await removeFolder(own);
      return { kind: 'differs' };
    }
    const original = drop.original ? originalIn(ownOf(id), drop.name) : pathOf(drop);
    await copyWhole(original, originalIn(own, drop.name));
    const at = clock.iso();
    const mends = cells.map(({ row, column, text: was, became }) => ({ row, column, was, became, by, at }));
    const next = await begin({ own, path }, by, {
      preparers: withLast(drop),
      mends: [...drop.mends, ...mends],
    });
    await keep({ ...drop, mendedAs: { id: next, changes: digest } });
    return { kind: 'mended', id: next };
  }

  async function checkOf({ id }: Drop): Promise<DropCheck | null> {
    const found = await readFile(join(ownOf(id), checkName), 'utf8').catch(() => null);
    // One that another version wrote is made again.
    return found === null ? null : (foundShape.safeParse(jsonIn(found)).data ?? null);
  }

  async function remove(id: string): Promise<void> {
    // The next intake moves a file that a batch waits for.
    if (!(await awaitedFolders(ledger.db)).has(ownOf(id))) await removeFolder(ownOf(id));
  }

  async function names(): Promise<string[]> {
    const all = await readdir(folder).catch(() => []);
    return all.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  }

  /** The batch that has the content of a file, by its hash: then nothing is left to decide about the file. */
  async function batchOf(content: string | null | undefined): Promise<string | null> {
    return content ? ((await findByContentHash(ledger.db, content))?.id ?? null) : null;
  }

  return {
    find,
    batchOf,
    checkOf,
    remove: (id: string) => inTurn(id, () => remove(id)),
    isFull: async (): Promise<boolean> => (await names()).length >= mostDrops,
    /** The files that wait for a decision, the newest first, and how many are still arriving. */
    async list(): Promise<{ drops: Drop[]; arriving: number }> {
      const found = await Promise.all((await names()).map(find));
      const drops = found.flatMap((one) => (one === null ? [] : [one]));
      const open: Drop[] = [];
      for (const drop of drops) {
        if (!drop.mendedAs && (await batchOf(drop.checked?.content)) === null) open.push(drop);
      }
      return {
        drops: open.toSorted((a, b) => (a.at < b.at ? 1 : -1)),
        arriving: found.length - drops.length,
      };
    },
    /** When a file is removed unless somebody decides. */
    until: ({ at, checked }: Drop): string => new Date(Date.parse(checked?.at ?? at) + keptMs).toISOString(),
    /** Keeps an upload and checks it; returns its id. Throws RefusedUpload. */
    async add(stream: Readable, { name, by }: { name: string; by: string }): Promise<string> {
      const { maxBytes } = config.intake;
      return begin(await keepUpload(stream, { folder, name, maxBytes }), by);
    },
    /** Copies a file of this machine, which others dropped, and checks it; returns its id. */
    async copy(source: string, { name, by }: { name: string; by: string }, preparers: readonly Preparer[]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const own = await mkdtemp(join(folder, prefix));
      await copyWhole(source, join(own, name));
      return begin({ own, path: join(own, name) }, by, { preparers });
    },
    /** Writes a new file with these cells changed, and checks it; without a change, checks the same file again. */
    mend: (id: string, changes: CellChanges, by: string) => inTurn(id, () => mendInTurn(id, changes, by)),
    /**
     * Has the file taken in as this person, if it is the one of this digest. `payOn`: the day of rows that name none, or
     * empty. Null: it is gone, or was mended.
     */
    take: (id: string, { sha256, payOn }: { sha256: string; payOn: string }, by: string) =>
      inTurn(id, async (): Promise<TakeInOutcome['taken'][number] | null> => {
        const drop = await find(id);
        if (!drop || drop.mendedAs) return null;
        const { original, mends } = drop;
        const prepared: Prepared = {
          ...{ sha256, mends, preparers: withLast(drop) },
          original: original && { source: originalIn(ownOf(id), drop.name), ...original },
        };
        const order = {
          files: [pathOf(drop)],
          dryRun: false,
          posted: true,
          prepared,
          ...(payOn && { payOn }),
        };
        const done = await takeInVerb.run({ ...app, signal: closing }, order, personOf(by));
        const took = done.kind === 'taken_in' ? done.taken[0] : undefined;
        if (took?.kind === 'taken') await remove(id);
        else await check(drop);
        return took ?? null;
      }),
    sweep: (atStart: boolean) => sweepUploads(folder, ledger.db, { nowMs: clock.now(), atStart }),
  };
}

function warningText({ text, rows }: MessageGroup): string {
  return `${text}: ${rowNumbersText(rows)}`;
}

/** A text of a form without the marks of invisible characters. */
function unmarked(text: string): string {
  return text.replaceAll(/<U\+([0-9A-F]{4,6})>/g, (mark, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0x10ffff ? mark : String.fromCodePoint(code);
  });
}

/** All who had a hand in the file, once each. */
function withLast({ preparers, by, mends }: Facts): Preparer[] {
  const did = mends.length > 0 ? ('mended' as const) : ('dropped' as const);
  const others = preparers.filter((one) => one.name !== by || one.uid !== null || one.did !== did);
  return [...others, { name: by, uid: null, did }];
}

/** The value of a file that a disk may have damaged; null where it is no JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
