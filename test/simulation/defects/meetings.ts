import type { Defect, Place } from './defect.ts';

/** The other guard of a closed month: its rows are kept by triggers. */
const rowsOfMonthsMayChange: Place = {
  file: 'src/core/storage/migrations/0001-parts.ts',
  find: `  ...unchanging('period_rows'),`,
  replace: ``,
};

/** What goes wrong where two rules meet: two people at once, an adoption and its list, a return, a clock that changes. */
export const meetingDefects: readonly Defect[] = [
  {
    name: 'lets a release go on beside a later hold',
    turn: 'races',
    file: 'src/sending/holds.sql.ts',
    find: `    if (releaseUnderWay(now)?.mark !== own?.mark) return { kind: 'ended' as const, now };`,
    replace: ``,
  },
  {
    name: 'forgets why a batch is held before all of it is released',
    turn: 'races',
    file: 'src/sending/holds.sql.ts',
    find: `    if (next === null) await setHoldReasons(trx, batch, left);`,
    replace: `    await setHoldReasons(trx, batch, next === null ? left : now.slice(now.length));`,
  },
  {
    name: 'lifts a halt that came after the person looked',
    turn: 'races',
    file: 'src/sending/halts.sql.ts',
    find: `all.filter((row) => seen === undefined || seen.includes(markOf(row)))`,
    replace: `all.filter((row) => seen === undefined || markOf(row) !== '')`,
  },
  {
    name: 'takes any list for the one that an adopted ledger waits for',
    turn: 'list',
    oldCopies: true,
    file: 'src/core/ledger/barriers.ts',
    find: `  if (!unproven) return tellLifted(trx, now);
  const`,
    replace: `  if (!unproven || unproven.why !== '') return tellLifted(trx, now);
  const`,
  },
  {
    name: 'lets a person end the wait before any list was read',
    turn: 'list',
    oldCopies: true,
    file: 'src/core/ledger/barriers.ts',
    find: `if (origin === undefined || barrier === undefined || foreign.includes(BigInt(origin))) return 'unread';`,
    replace: `if (barrier === undefined) return 'unread';`,
  },
  {
    name: 'lets a release lift what it never saw',
    turn: 'races',
    file: 'src/sending/holds.sql.ts',
    find: `!known.some((one) => isDeepStrictEqual(one, reason))),`,
    replace: `known.some((one) => isDeepStrictEqual(one, undefined))),`,
  },
  {
    name: 'takes what failed once after its success for returned',
    turn: 'returns',
    file: 'src/core/domain/sure-return.ts',
    find: `  return ms >= returnHours * 3_600_000 ?`,
    replace: `  return ms >= returnHours ?`,
  },
  {
    name: 'says nothing where what came back is paid after all',
    turn: 'returns',
    file: 'src/books/discrepancies/classify.ts',
    find: `  if (payout.state === 'returned' && (status === 'failed' || payout.cameBackSince)) return null;`,
    replace: `  if (payout.state === 'returned') return null;`,
  },
  {
    name: 'stands still in the hour that happens twice',
    turn: 'zone',
    file: 'src/core/runtime/next-due.ts',
    find: `    if (everyHour) return matches(local);`,
    replace: `    if (everyHour) return local > latest && matches(local);`,
  },
  {
    name: 'runs a fixed time again in the hour that happens twice',
    from: 15,
    turn: 'zone',
    file: 'src/core/runtime/next-due.ts',
    find: `    if (everyHour) return matches(local);`,
    replace: `    if (everyHour || matches(local)) return matches(local);`,
  },
  {
    name: 'rewrites a figure of a closed month',
    turn: 'paper',
    file: 'src/books/statement/freeze-books.ts',
    find: `    const about = await aboutRun(run, scope);
    const store`,
    replace: `    const about = await aboutRun(run, scope);
    await ledger.write((trx) => trx.updateTable('period_rows').set({ cells: '[]' }).where('position', '>', 0n).execute());
    const store`,
    also: [rowsOfMonthsMayChange],
  },
  {
    name: 'counts once more what a closed month has counted',
    turn: 'paper',
    file: 'src/books/statement/freeze-books.ts',
    find: `      span: { from: closed?.through_history ?? 0n, through },`,
    replace: `      span: { from: closed ? 0n : 0n, through },`,
  },
  {
    name: 'turns green at the close of a month',
    turn: 'paper',
    file: 'src/books/statement/service-side.ts',
    find: `    compare(isCarried ? { ...one, add: withoutTiming(one.add) } : one);`,
    replace: `    if (!isCarried) compare({ ...one, add: isCarried ? withoutTiming(one.add) : one.add });`,
    also: [
      {
        file: 'src/books/statement/compute-statement.ts',
        find: `  for await (const page of openConflicts(db)) {
    const entries = page.filter(`,
        replace: `  for await (const page of openConflicts(db)) {
    const entries = page.slice(about.span.from > 0n ? page.length : 0).filter(`,
      },
    ],
  },
  {
    name: 'runs again in the hour that happens twice, and never at a time that the clock skips',
    turn: 'zone',
    file: 'src/core/runtime/next-due.ts',
    find: `    for (let at = latest + minuteMs; at <= local; at += minuteMs) if (matches(at)) return true;
    return false;`,
    replace: `    return latest >= 0 && matches(local);`,
  },
];
