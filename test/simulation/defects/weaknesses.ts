import type { Defect } from './defect.ts';

/** Weaknesses of the design rather than slips: each shows only where something waits, steps, changes or is cut off. */
export const weaknessDefects: readonly Defect[] = [
  {
    name: 'acts on evidence that was weighed when somebody decided',
    turn: 'waiting',
    file: 'src/sending/ready.sql.ts',
    find: `sql\`(payouts.submitted_at is null and payouts.unseen_sends = 0
  and payouts.successor_of is null)\``,
    replace: `sql\`(1 = 1)\``,
  },
  {
    name: 'takes the answer of another account for an answer',
    turn: 'account',
    fault: 'lost after acceptance',
    file: 'src/core/domain/origin.ts',
    find: `  if (origin.baseUrl !== own.baseUrl) return false;
  return secretKeys.includes`,
    replace: `  if (origin.baseUrl === '') return false;
  return own.secretKey !== '' || secretKeys.includes`,
  },
  {
    name: 'lets nobody close what the service has lost',
    from: 5,
    turn: 'account',
    file: 'src/watching/evidence/remedy.ts',
    find: `    case 'pending':
    case 'unknown':
      return [...retry, 'settle'];`,
    replace: `    case 'pending':
    case 'unknown':
      return state === 'pending' ? retry : [...retry, 'settle'];`,
  },
  {
    name: 'waits by the wall clock',
    turn: 'clock',
    file: 'src/core/domain/wait.ts',
    find: `untilMs - Math.max(notedMs, nowMs)`,
    replace: `untilMs - Math.max(nowMs, nowMs)`,
  },
  {
    name: 'promises nothing of the rows that it leaves out',
    turn: 'files',
    file: 'src/intake/take.ts',
    find: `    return [archived(paths, path, batch, scan), ...left];`,
    replace: `    return [archived(paths, path, batch, scan), ...left.slice(left.length)];`,
  },
  {
    name: 'sends when no schedule says so',
    turn: 'schedule',
    file: 'src/daemon/sending-gate.ts',
    find: `      if (expression.trim() === '') return null;`,
    replace: `      if (expression.trim() === '') return clock.iso();`,
  },
  {
    name: 'says that it reconciled where nothing was compared',
    from: 10,
    turn: 'paper',
    file: 'src/core/domain/verdict.ts',
    find: `  if (!isUsable(list)) return 'not_compared';`,
    replace: `  if (!isUsable(list)) return 'reconciled';`,
  },
  {
    name: 'sends what is no longer what was read',
    from: 5,
    turn: 'files',
    file: 'src/intake/confirm.ts',
    find: `  if (stats.size === bytes && (`,
    replace: `  if (found.size >= 0n || (`,
  },
  {
    name: 'never writes the reports of a run that was cut off',
    from: 11,
    turn: 'paper',
    file: 'src/faces/files/run-files.ts',
    find: `await runsDue(ledger.db)`,
    replace: `(await runsDue(ledger.db)).slice(-1)`,
  },
  {
    name: 'takes reports for written before they are',
    from: 11,
    turn: 'paper',
    file: 'src/faces/files/run-files.ts',
    find: `      files.push(...(await writeRun(run)));
      await ledger.write((trx) => reportsWritten(trx, run));`,
    replace: `      await ledger.write((trx) => reportsWritten(trx, run));
      files.push(...(await writeRun(run)));`,
  },
];
