import type { Defect } from './defect.ts';

/** What a sender can do wrong. */
export const sendingDefects: readonly Defect[] = [
  {
    name: 'sends before the commit',
    file: 'src/submission/send.ts',
    find: `    return { claims: await claim(trx, request), halted: null, asked: free, began };`,
    replace: `    const early = await claim(trx, request);
    for (const one of early) await deps.service.bankTransfer(one.body, one.reference, () => true);
    return { claims: [], halted: null, asked: free, began };`,
  },
  {
    name: 'claims without looking at the state',
    file: 'src/ledger/claims.ts',
    find: `base.where('payouts.state', '=', 'ready').execute()`,
    replace: `base.execute()`,
  },
  {
    name: 'claims what is held',
    file: 'src/ledger/claims.ts',
    find: `base.where('payouts.state', '=', 'ready').execute()`,
    replace: `base.where('payouts.state', 'in', ['ready', 'held']).execute()`,
  },
  {
    name: 'claims what was cancelled',
    file: 'src/ledger/claims.ts',
    find: `base.where('payouts.state', '=', 'ready').execute()`,
    replace: `base.where('payouts.state', 'in', ['ready', 'cancelled']).execute()`,
  },
  {
    name: 'makes one attempt of a claim and sends it twice',
    file: 'src/submission/send.ts',
    find: `    for (const claimed of turn.claims) launch(`,
    replace: `    for (const claimed of turn.claims) if (claimed.attemptId % 5n === 0n) launch(deps, claimed, turn.began, inFlight, done);
    for (const claimed of turn.claims) launch(`,
  },
  {
    name: 'ignores a halt',
    file: 'src/ledger/halts.ts',
    find: `  return db.selectFrom('halts').selectAll().where('mode', '=', mode).executeTakeFirst();`,
    replace: `  return undefined;`,
  },
  {
    name: 'never halts for unknowns',
    file: 'src/submission/send.ts',
    find: `  return finished.some(({ outcome }) => outcome.kind === 'unknown') ? countUnknown() : null;`,
    replace: `  return null;`,
  },
  {
    name: 'does not look at the age of an intent',
    file: 'src/submission/send.ts',
    find: `    aged = age > deps.rules.sendDeadlineMs;`,
    replace: `    aged = false;`,
  },
  {
    name: 'takes the intents of the dead for unsent',
    file: 'src/domain/transition.ts',
    find: `!now.otherUnderWay ? move(now, 'unknown') : keep(now, event.why);`,
    replace: `!now.otherUnderWay ? move(now, 'ready') : keep(now, event.why);`,
  },
  {
    name: 'never takes over from the dead',
    file: 'src/submission/take-over.ts',
    find: `await deps.workers.dead()`,
    replace: `(await deps.workers.dead()).slice(0, 0)`,
  },
  {
    name: 'sends again after a rejection without asking',
    file: 'src/ledger/claims.ts',
    find: `    .where('payouts.look_up_first', '=', 0n)\n`,
    replace: ``,
  },
  {
    name: 'signs one text and sends another',
    file: 'src/service/client.ts',
    find: `body: Buffer.from(body, 'utf8'),`,
    replace: `body: Buffer.from(body + ' ', 'utf8'),`,
  },
  {
    name: 'forgets a payout of each batch',
    file: 'src/ledger/batches.ts',
    find: `  const texts = rows.map((row) => ({`,
    replace: `  const texts = rows.slice(0, rows.length > 2 ? -1 : undefined).map((row) => ({`,
  },
];
