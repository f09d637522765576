import type { Defect } from './defect.ts';

/** What can be believed on too little evidence. */
export const evidenceDefects: readonly Defect[] = [
  {
    name: 'settles on the word of a webhook',
    file: 'src/core/domain/transition.ts',
    find: `  if (status === 'pending' || source === 'webhook') {`,
    replace: `  if (status === 'pending') {`,
  },
  {
    name: 'lets a webhook overturn what is final',
    file: 'src/core/domain/transition.ts',
    find: `  if (status === 'pending') return keep(now, \`a late pending from \${source}\`);`,
    replace: `  if (source === 'webhook') return move(now, status, source);`,
  },
  {
    name: 'stores webhooks whatever their signature',
    from: 5,
    file: 'src/watching/webhooks/webhook-signature.ts',
    find: `names[placeOf(digests, proof.payloadsignature)];`,
    replace: `names[0];`,
  },
  {
    name: 'sends again what a look-up did not find',
    file: 'src/core/domain/transition.ts',
    find: `    case 'looked_up':
      return keep(`,
    replace: `    case 'looked_up':
      if (!event.found && now.state === 'unknown') return move(now, 'ready');
      return keep(`,
  },
  {
    name: 'believes one failed transfer after a resend',
    from: 5,
    doubtful: true,
    fault: 'hang, taken',
    again: 'hang, taken',
    file: 'src/core/domain/transition.ts',
    find: `  if (over && lacksTransfers(now, witness)) return notOver`,
    replace: `  if (over && now.possiblyTaken < 0) return notOver`,
  },
  {
    name: 'resends what is listed',
    from: 4,
    file: 'src/books/discrepancies/resend-absent.ts',
    find: `      if (verdict.kind !== 'absent') continue;`,
    replace: ``,
  },
  {
    name: 'tells nobody of what stays unknown',
    fault: 'lost before acceptance',
    file: 'src/books/discrepancies/record-findings.ts',
    find: `        payouts.map((payout) => ({ payout, found: unknown(payout, `,
    replace: `        payouts.slice(0, 0).map((payout) => ({ payout, found: unknown(payout, `,
  },
  {
    name: 'pays anew without looking at who else does',
    turn: 'waiting',
    file: 'src/watching/evidence/judge.ts',
    find: `  if (successor !== null)`,
    replace: `  if (payout.id < 0n)`,
  },
  {
    name: 'decides on evidence that was never shown',
    from: 303,
    file: 'src/watching/evidence/judge.ts',
    find: `      return no(lostAs('pending', evidence) ?? 'it is on its way: the service has it');`,
    replace: `      return { kind: 'successor' };`,
  },
  {
    name: 'drops an entry of the history',
    file: 'src/core/ledger/record.ts',
    find: `    entries.push(entry);`,
    replace: `    if (event.kind !== 'looked_up') entries.push(entry);`,
  },
];
