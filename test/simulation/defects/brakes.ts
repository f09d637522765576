import type { Defect } from './defect.ts';

/** What can go wrong with the brakes: approvals, holds, the limit of a day, canaries. */
export const brakeDefects: readonly Defect[] = [
  {
    name: 'takes every batch for approved',
    from: 6,
    brake: 'approval',
    file: 'src/sending/approvals.sql.ts',
    find: `  return sql<boolean>\`((not \${asked(brakes)} or`,
    replace: `  return sql<boolean>\`((1 = 1 or not \${asked(brakes)} or`,
  },
  {
    name: 'approves what changed since it was shown',
    from: 11,
    brake: 'approval',
    file: 'src/sending/approvals.sql.ts',
    find: `  return now.body_digest !== shown.bodies || newer ? null : readReasons(now.hold_reasons);`,
    replace: `  return now.body_digest === '' && newer ? null : readReasons(now.hold_reasons);`,
  },
  {
    name: 'lets people approve what they dropped',
    from: 12,
    brake: 'approval',
    file: 'src/sending/approval.ts',
    find: `      ? one.uid === dropper.uid
      : one.name.toLowerCase() === dropper.name.toLowerCase(),`,
    replace: `      ? false
      : false,`,
  },
  {
    name: 'does not hold a batch for a payout above the limit',
    from: 3,
    brake: 'payout limit',
    file: 'src/intake/file-reasons.ts',
    find: `  if (overLimit.count > 0)`,
    replace: `  if (overLimit.count > 1_000)`,
  },
  {
    name: 'does not hold a batch for rows that look alike',
    file: 'src/intake/file-reasons.ts',
    find: `  if (first) {
    const { row, earlier } = first;`,
    replace: `  if (first && duplicates.count > 1_000) {
    const { row, earlier } = first;`,
  },
  {
    name: 'counts the day of the limit in another time zone',
    from: 12,
    brake: 'daily limit',
    file: 'src/sending/daily-limit.ts',
    find: `startOfDay(DateTime.fromISO(at, { zone }))`,
    replace: `startOfDay(DateTime.fromISO(at, { zone: zone === '' ? zone : 'utc' }))`,
  },
  {
    name: 'lets each claim have the whole limit of the day',
    from: 6,
    brake: 'daily limit',
    file: 'src/sending/claims.sql.ts',
    find: `limits.limits), limits.left).admitted`,
    replace: `limits.limits), limits.limits).admitted`,
  },
  {
    name: 'gives the day back what may have been taken',
    brake: 'daily limit',
    fault: 'lost after acceptance',
    file: 'src/core/ledger/attempts.ts',
    find: `outcome !== null && !mayHaveBeenTaken(outcome.kind)`,
    replace: `outcome !== null && outcome.kind !== 'accepted'`,
  },
  {
    name: 'takes a canary that failed for settled',
    brake: 'canary',
    file: 'src/sending/canaries.sql.ts',
    find: `    if (verdict.kind === 'passed') await own`,
    replace: `    if (verdict.kind === 'passed' || verdict.kind === 'failed') await own`,
  },
  {
    name: 'takes an unknown payout of a canary for settled',
    from: 3,
    brake: 'canary',
    fault: 'lost after acceptance',
    file: 'src/sending/canary.ts',
    find: `  'returned',
  'unknown',
] as const satisfies`,
    replace: `  'returned',
] as const satisfies`,
  },
  {
    name: 'forgets the canary of a process that died',
    from: 5,
    brake: 'canary',
    file: 'src/sending/claims.sql.ts',
    find: `  const why = 'the sending process died before the answer was recorded';`,
    replace: `  const why = 'the sending process died before the answer was recorded';
  await trx.deleteFrom('canaries').where('state', '=', 'open').execute();`,
  },
  {
    name: 'goes by our own clock alone on the day of a payment',
    from: 80,
    brake: 'day of payment',
    turn: 'clock',
    file: 'src/core/domain/pay-day.ts',
    find: `  return heard < own ? heard : own;`,
    replace: `  return own;`,
  },
  {
    name: 'sends a payout before its day',
    brake: 'day of payment',
    file: 'src/sending/ready.sql.ts',
    find: `    .where('payouts.pay_on', '<=', asked.day)\n`,
    replace: ``,
    also: [
      {
        file: 'src/sending/lanes.sql.ts',
        find: `    if (payOn > day) return`,
        replace: `    if (payOn > '9') return`,
      },
    ],
  },
];
