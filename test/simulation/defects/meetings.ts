import type { Defect } from './defect.ts';

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
    find: `    if (next === null) await setHoldReasons(trx, batch, []);`,
    replace: `    await setHoldReasons(trx, batch, next === null ? [] : now.slice(now.length));`,
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
    file: 'src/ledger/barriers.ts',
    find: `  if (!unproven) return;
  const`,
    replace: `  if (!unproven || unproven.why !== '') return;
  const`,
  },
  {
    name: 'takes what failed once after its success for returned',
    turn: 'returns',
    file: 'src/domain/sure-return.ts',
    find: `  return ms >= returnHours * 3_600_000 ?`,
    replace: `  return ms >= returnHours ?`,
  },
  {
    name: 'says nothing where what came back is paid after all',
    turn: 'returns',
    file: 'src/reconciliation/classify.ts',
    find: `  if (payout.state === 'returned' && (status === 'failed' || payout.cameBackSince)) return null;`,
    replace: `  if (payout.state === 'returned') return null;`,
  },
  {
    name: 'stands still in the hour that happens twice',
    turn: 'zone',
    file: 'src/runtime/next-due.ts',
    find: `    if (everyHour) return matches(local);`,
    replace: `    if (everyHour) return local > latest && matches(local);`,
  },
  {
    name: 'runs again in the hour that happens twice, and never at a time that the clock skips',
    turn: 'zone',
    file: 'src/runtime/next-due.ts',
    find: `    for (let at = latest + minuteMs; at <= local; at += minuteMs) if (matches(at)) return true;
    return false;`,
    replace: `    return latest >= 0 && matches(local);`,
  },
];
