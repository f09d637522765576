import Database from 'better-sqlite3';

/** SQL: true for a run that read the whole list, whosever it is. */
export const readWhole =
  "finished_at is not null and base_run_id is null and list_standing in ('complete', 'shows_none', 'not_ours')";

/** What one entry of the history says, beside the payout as it now stands. */
export type Told = {
  id: number;
  payout_id: number;
  event: string;
  source: string;
  from_state: string | null;
  to_state: string;
  detail: string;
  reference: string;
  state: string;
  evidence: string;
  amount: number;
  currency: string;
  account_number: string;
};
export type Standing = { id: number; reference: string; state: string; evidence: string; attempts: number };
export type Attempted = {
  id: number;
  payout_id: number;
  reference: string;
  worker_id: string;
  outcome: string | null;
  began_at: string;
};

/** What of a batch must agree: why it is held, and how many of its payouts are ready, or held without a reason of their own. */
export type HeldBatch = { id: string; hold_reasons: string; ready: number; unexplained: number };

/** Reads the ledger file over a connection of its own, by SQL of its own: what is committed, and nothing else. */
export type Inspector = {
  toldAfter(id: number): Told[];
  attemptsAfter(id: number): Attempted[];
  /** Attempts of a payout that the service may have taken. */
  possiblyTaken(payoutId: number): number;
  lastAttempt(reference: string): (Attempted & { state: string }) | undefined;
  /** The attempt before the last was turned away, and no look-up was answered since. */
  isUnasked(reference: string): boolean;
  /** Something that must keep everything from being sent is in force. */
  isHalted(): boolean;
  /** Payouts whose batch is in, or far enough on its way that their history has begun. */
  states(): Standing[];
  batches(): { id: string; phase: string; file_name: string }[];
  /** Each batch that is in. */
  holds(): HeldBatch[];
  rows<Row>(sql: string, ...parameters: (string | number)[]): Row[];
  pages(): number;
  /** Another file takes the ledger's place meanwhile. */
  whileClosed(work: () => Promise<void>): Promise<void>;
  close(): void;
};

export function openInspector(path: string): Inspector {
  let on = prepare(path);
  return {
    toldAfter: (id) => on.told.all(id),
    attemptsAfter: (id) => on.attempts.all(id),
    possiblyTaken: (payoutId) => on.taken.get(payoutId)?.n ?? 0,
    lastAttempt: (reference) => on.last.get(reference),
    isUnasked: (reference) => (on.unasked.get(reference)?.n ?? 0) > 0,
    isHalted: () => (on.halted.get()?.n ?? 0) > 0,
    states: () => on.states.all(),
    batches: () => on.batches.all(),
    holds: () => on.holds.all(),
    rows: <Row>(sql: string, ...parameters: (string | number)[]) =>
      on.database.prepare<(string | number)[], Row>(sql).all(...parameters),
    pages: () => Number(on.database.pragma('page_count', { simple: true })),
    async whileClosed(work) {
      on.database.close();
      await work();
      on = prepare(path);
    },
    close: () => void on.database.close(),
  };
}

function prepare(path: string) {
  const database = new Database(path, { readonly: true });
  const told = database.prepare<[number], Told>(`
    select h.id, h.payout_id, h.event, h.source, h.from_state, h.to_state, h.detail, p.reference, p.state,
      p.evidence, p.amount, p.currency, p.account_number
    from history h join payouts p on p.id = h.payout_id where h.id > ? order by h.id`);
  const attempts = database.prepare<[number], Attempted>(`
    select a.id, a.payout_id, p.reference, a.worker_id, a.outcome, a.began_at
    from attempts a join payouts p on p.id = a.payout_id where a.id > ? order by a.id`);
  const taken = database.prepare<[number], { n: number }>(`
    select count(*) as n from attempts
    where payout_id = ? and (outcome is null or outcome in ('accepted', 'unknown'))`);
  const last = database.prepare<[string], Attempted & { state: string }>(`
    select a.id, a.payout_id, p.reference, a.worker_id, a.outcome, a.began_at, p.state
    from attempts a join payouts p on p.id = a.payout_id where p.reference = ? order by a.id desc limit 1`);
  const unasked = database.prepare<[string], { n: number }>(`
    select count(*) as n from attempts a join payouts p on p.id = a.payout_id
    where p.reference = ? and a.number = p.attempt_count - 1 and a.outcome = 'turned_away'
      and not exists (select 1 from history said
        where said.payout_id = p.id and said.source in ('details', 'listing') and said.id > (
          select max(id) from history h where h.payout_id = p.id and h.event = 'turned_away'))`);
  const halted = database.prepare<[], { n: number }>(`
    select (select count(*) from halts) + (select count(*) from meta
      where key in ('behind', 'sealed', 'listing_due')) as n`);
  const states = database.prepare<[], Standing>(
    'select id, reference, state, evidence, attempt_count as attempts from payouts where history_seq > 0 order by id',
  );
  const batches = database.prepare<[], { id: string; phase: string; file_name: string }>(
    'select id, phase, file_name from batches order by created_at, id',
  );
  const holds = database.prepare<[], HeldBatch>(`
    select b.id, b.hold_reasons, sum(p.state = 'ready') as ready,
      sum(p.state = 'held' and p.withheld_by is null) as unexplained
    from batches b join payouts p on p.batch_id = b.id where b.phase = 'loaded' group by b.id`);
  return { database, holds, told, attempts, taken, last, unasked, halted, states, batches };
}
