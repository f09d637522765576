import type { Defect, Place } from './defect.ts';

/** The other guard of what is held: nothing of a held batch is claimed, whatever its payouts say. */
const claimsOfHeldBatches: Place = {
  file: 'src/sending/ready.sql.ts',
  find: `    .where('batches.held', '=', sql.lit(0n))`,
  replace: `    .where('batches.held', '>=', sql.lit(0n))`,
};

/** What a sender can do wrong. */
export const sendingDefects: readonly Defect[] = [
  {
    name: 'sends before the commit',
    file: 'src/sending/send.ts',
    find: `    return why === null ? { claims, halted: null, asked: free, began } : { ...none, halted: why };`,
    replace: `    for (const one of claims) await deps.service.bankTransfer(one.body, one.reference, () => true);
    return { claims: [], halted: why, asked: free, began };`,
  },
  {
    name: 'claims without looking at the state',
    from: 18,
    brake: 'payout limit',
    file: 'src/sending/ready.sql.ts',
    find: `claimable(db, { brakes }, asked).where('payouts.state', '=', readyState)`,
    replace: `claimable(db, { brakes }, asked)`,
    also: [claimsOfHeldBatches],
  },
  {
    name: 'claims what is held',
    from: 18,
    brake: 'payout limit',
    file: 'src/sending/ready.sql.ts',
    find: `claimable(db, { brakes }, asked).where('payouts.state', '=', readyState)`,
    replace: `claimable(db, { brakes }, asked).where('payouts.state', 'in', ['ready', 'held'])`,
    also: [claimsOfHeldBatches],
  },
  {
    name: 'claims what was cancelled',
    from: 3,
    turn: 'schedule',
    fault: 'connection refused',
    file: 'src/sending/ready.sql.ts',
    find: `claimable(db, { brakes }, asked).where('payouts.state', '=', readyState)`,
    replace: `claimable(db, { brakes }, asked).where('payouts.state', 'in', ['ready', 'cancelled'])`,
  },
  {
    name: 'makes one attempt of a claim and sends it twice',
    file: 'src/sending/send.ts',
    find: `    for (const claimed of turn.claims) flight.launch(`,
    replace: `    for (const claimed of turn.claims)
      if (claimed.attemptId % 5n === 0n) flight.launch(post(deps, claimed, { began: turn.began, may }));
    for (const claimed of turn.claims) flight.launch(`,
  },
  {
    name: 'ignores a halt',
    fault: 'halt 10',
    file: 'src/sending/halts.sql.ts',
    find: `  return haltOf(await standing(db, []));`,
    replace: `  return haltOf((await standing(db, [])).slice(0, 0));`,
  },
  {
    name: 'never halts for unknowns',
    from: 6,
    fault: 'lost after acceptance',
    file: 'src/sending/send.ts',
    find: `  return countUnknown();`,
    replace: `  return (await countUnknown()) && null;`,
  },
  {
    name: 'does not look at the age of an intent',
    file: 'src/sending/send.ts',
    find: `    if (elapsedSince(deps.clock, began) > deps.rules.sendDeadlineMs) keptBack`,
    replace: `    if (deps.rules.sendDeadlineMs < 0) keptBack`,
  },
  {
    name: 'takes the intents of the dead for unsent',
    from: 3,
    file: 'src/core/domain/transition.ts',
    find: `!now.otherUnderWay ? move(now, 'unknown') : keep(now, event.why);`,
    replace: `!now.otherUnderWay ? move(now, 'ready') : keep(now, event.why);`,
  },
  {
    name: 'never takes over from the dead',
    from: 3,
    file: 'src/sending/take-over.ts',
    find: `await deps.workers.dead()`,
    replace: `(await deps.workers.dead()).slice(0, 0)`,
  },
  {
    name: 'sends again after a rejection without asking',
    from: 3,
    file: 'src/sending/ready.sql.ts',
    find: `.where('payouts.state', '=', readyState).where(firstTime);`,
    replace: `.where('payouts.state', '=', readyState);`,
  },
  {
    name: 'signs one text and sends another',
    file: 'src/core/service/client.ts',
    find: `body: Buffer.from(body, 'utf8'),`,
    replace: `body: Buffer.from(body + ' ', 'utf8'),`,
  },
  {
    name: 'forgets a payout of each batch',
    file: 'src/core/ledger/batches.ts',
    find: `  return countRows(trx.selectFrom('payouts').where('batch_id', '=', batch));`,
    replace: `  const n = await countRows(trx.selectFrom('payouts').where('batch_id', '=', batch));
  if (n > 2) await sql\`delete from payouts where id = (select max(id) from payouts where batch_id = \${batch})\`.execute(trx);
  return n;`,
  },
];
