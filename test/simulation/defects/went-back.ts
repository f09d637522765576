import type { Defect } from './defect.ts';

/** What can go wrong where a ledger went back in time. */
export const wentBackDefects: readonly Defect[] = [
  {
    name: 'does not see that its ledger went back',
    oldCopies: true,
    file: 'src/custody/marking.ts',
    find: `  if (why) await noteFall`,
    replace: `  if (why === '') await noteFall`,
  },
  {
    name: 'sends from a ledger that went back',
    from: 3,
    oldCopies: true,
    file: 'src/core/ledger/barriers.ts',
    find: `export const allBarriers: readonly string[] = [barrierKeys.sealed, barrierKeys.behind, barrierKeys.listing];`,
    replace: `export const allBarriers: readonly string[] = [barrierKeys.sealed, barrierKeys.sealed, barrierKeys.listing];`,
  },
  {
    name: 'sends from an adopted ledger before a listing was matched',
    from: 2,
    oldCopies: true,
    file: 'src/custody/adopt.ts',
    find: `  await raiseBarrier(trx, barrierKeys.listing, { at, why, advice: { kind: 'list_whole' } });`,
    replace: `  if (at === '') await raiseBarrier(trx, barrierKeys.listing, { at, why, advice: { kind: 'list_whole' } });`,
  },
  {
    name: 'adopts what was ready as not yet sent',
    from: 4,
    oldCopies: true,
    file: 'src/custody/adopt.ts',
    find: `  for (const state of ['unknown', ...forgettable] as const) {`,
    replace: `  for (const state of ['unknown', 'held', 'sending', 'failed', 'refused'] as const) {`,
  },
  {
    name: 'sends what the service lists already',
    from: 6,
    oldCopies: true,
    file: 'src/watching/evidence/withheld.ts',
    find: `  return new Map([...reasons, ...(await shownAlready(trx, payouts, originId))]);`,
    replace: `  return reasons;`,
  },
];
