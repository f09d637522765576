import { renameSync } from 'node:fs';
import type { AdvisedReason, SayAdvice } from '../core/domain/advice.ts';
import { barrierKeys } from '../core/ledger/barriers.ts';
import { dropMeta, keepMeta, metaOfKeys } from '../core/ledger/meta.ts';
import { hostJobs } from '../core/settings/schedule-list.ts';
import { isLedgerThere } from '../core/storage/exists.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import {
  isLedgerFile,
  isSharedLedger,
  maskedPassword,
  type Place,
  placeName,
  placeOf,
} from '../core/storage/place.ts';
import { syncFolder } from '../core/storage/sync-folder.ts';
import { abandonAll } from './adopt.ts';
import { shutGate } from './custody-gate.ts';
import { copyConsistently } from './make-backup.ts';
import { movedAway, removeMark, writeMark } from './mark.ts';
import { markNow, noticeFall } from './marking.ts';
import { openLedger } from './open-ledger.ts';
import { findSeal, ledgerDigest, sealKeys } from './seal.ts';
import { openSnapshot } from './snapshot.ts';
import { syncFile } from './swap.ts';

/** `to` is the new place, with an absolute file name; `url` is its form in the configuration, without a password. */
export type MoveRequest = {
  from: string;
  to: string | Place;
  url: string;
  now: () => string;
  /** Words the way back that the seal names. */
  say: SayAdvice;
  /** Called with the number of rows copied so far, if rows are copied one by one. */
  onRows?: (rows: number) => void;
};

export type MovedLedger =
  | { kind: 'moved'; digest: string; abandoned: number; before: boolean }
  | { kind: 'refused'; why: MoveRefusal }
  | { kind: 'locked' };

/** Why a ledger does not move to `to`, for `words/custody-words.ts`. */
export type MoveRefusal =
  | { kind: 'moved_before'; reason: AdvisedReason }
  | { kind: 'target_there'; to: string }
  | { kind: 'target_gone'; to: string }
  | { kind: 'target_differs'; to: string; from: string; isFile: boolean };

/**
 * Moves a ledger permanently (P26). Seals the source with the digest of its contents, copies it, and opens the copy for
 * sending only when it matches. The caller has shut the source's gate. Whatever dies, at most one of the two can send,
 * and the same call again finishes.
 */
export async function moveLedger(request: MoveRequest): Promise<MovedLedger> {
  const { from, now } = request;
  const target = placeOf(request.to);
  const to = placeName(target);
  const source = await openLedger(from, { now, alone: 'owner' });
  try {
    const sealed = await progressOf(source);
    if (sealed.target !== undefined && sealed.target !== to)
      return { kind: 'refused', why: { kind: 'moved_before', reason: sealed } };
    const there = await isLedgerThere(target);
    if (sealed.target === undefined && there) return { kind: 'refused', why: { kind: 'target_there', to } };
    if (sealed.handed && !there) return { kind: 'refused', why: { kind: 'target_gone', to } };
    const gate = await shutGate(target);
    if (!gate) return { kind: 'locked' };
    try {
      const abandoned = sealed.target === undefined ? await abandonAll(source, now) : 0;
      const digest = sealed.digest ?? (await seal(source, request));
      if (!there) await copyTo(from, target, request);
      const arrived = await openTarget(source, { ...request, to: target }, { digest, handed: sealed.handed });
      if (arrived.kind === 'differs') {
        const why: MoveRefusal = { kind: 'target_differs', to, from, isFile: isLedgerFile(target) };
        return { kind: 'refused', why };
      }
      return { kind: 'moved', digest, abandoned, before: arrived.kind === 'open' };
    } finally {
      await gate.release();
    }
  } finally {
    await source.close();
  }
}

type Progress = AdvisedReason & { target: string | undefined; digest: string | undefined; handed: boolean };

async function progressOf({ db, place }: Ledger): Promise<Progress> {
  const seal = await findSeal(db, placeName(place));
  const wanted = [sealKeys.target, sealKeys.digest, sealKeys.handed];
  const value = await metaOfKeys(db, wanted);
  return {
    why: seal?.why ?? '',
    advice: seal?.advice ?? null,
    target: value.get(sealKeys.target),
    digest: value.get(sealKeys.digest),
    handed: value.has(sealKeys.handed),
  };
}

/** The remark about a password, which is stored nowhere: a person who copies the address must add it. */
function withPassword(url: string): string {
  return url.includes(maskedPassword) ? `, with the password in place of ${maskedPassword}` : '';
}

/** Seals the source in one transaction: it records the digest of the contents, and nothing changes after it. */
async function seal(source: Ledger, { url, now, say, ...request }: MoveRequest): Promise<string> {
  const to = placeName(placeOf(request.to));
  return source.write(async (trx) => {
    const digest = await ledgerDigest(trx);
    const place = url === to ? to : `${url} (${to})`;
    const cause = `this ledger was moved to ${place}: set ledger.url to it${withPassword(url)}. ${say({ kind: 'finish_move', url })}`;
    await trx
      .insertInto('meta')
      .values([
        { key: barrierKeys.sealed, value: `${now()} ${cause}` },
        { key: sealKeys.target, value: to },
        { key: sealKeys.digest, value: digest },
      ])
      .execute();
    return digest;
  });
}

/** Copies the sealed source; the copy is sealed too. A name appears only when its bytes are durable. */
async function copyTo(
  from: string,
  target: Place,
  { now, onRows = () => undefined }: MoveRequest,
): Promise<void> {
  const { path: to } = target;
  if (target.kind === 'postgres') {
    removeMark(to);
    const { copyTables } = await import('./copy-tables.ts');
    const copy = await openLedger(target, {
      now,
      alone: 'copy',
      fill: async (trx) => void (await copyTables(from, trx, onRows)),
    });
    await copy.close();
    return;
  }
  const partial = `${to}.partial`;
  await copyConsistently(from, partial, 'full');
  syncFile(partial);
  // A mark at that place belongs to a file that is gone, and would say that the copy went back in time.
  removeMark(to);
  renameSync(partial, to);
  syncFolder(to);
}

/** Compares and opens the target. `open`: it was open before. */
async function openTarget(
  source: Ledger,
  { to, now }: { to: Place; now: () => string },
  { digest, handed }: { digest: string; handed: boolean },
): Promise<{ kind: 'opened' | 'open' | 'differs' }> {
  const target = await openLedger(to, { now, alone: 'copy' });
  try {
    const sealed = await progressOf(target);
    if (target.id !== source.id) return { kind: 'differs' };
    const isOpen = sealed.target === undefined;
    if (!isOpen && (await digestOf(to)) !== digest) return { kind: 'differs' };
    // No ledger has this mark's name: a file from before the move that is put back is noticed (P25), whatever dies now.
    writeMark(source.path, { ledger: movedAway, history: 0n, hash: '' });
    if (isOpen) return { kind: 'open' };
    await source.write((trx) => keepMeta(trx, sealKeys.handed, now()));
    await target.write(async (trx) => {
      const gone = [barrierKeys.sealed, sealKeys.target, sealKeys.digest, sealKeys.handed, 'marked'];
      await dropMeta(trx, gone);
      // Hosts have other ids in PostgreSQL: what their jobs did before would stay, of a host that never runs again.
      if (isSharedLedger(to)) await trx.deleteFrom('jobs').where('job', 'in', hostJobs).execute();
    });
    // P25: if it was open before, its mark shows that it has sent since, and that this is an old copy in its place.
    const fell = handed && (await target.write((trx) => noticeFall(trx, to.path, target.id, now())));
    if (!fell) await target.write((trx) => markNow(trx, to.path, target.id));
    return { kind: 'opened' };
  } finally {
    await target.close();
  }
}

async function digestOf(place: Place): Promise<string> {
  const { db, close } = await openSnapshot(place);
  try {
    return await ledgerDigest(db);
  } finally {
    await close();
  }
}
