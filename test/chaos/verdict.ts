import type { Transfer } from './book.ts';
import type { LedgerView } from './ledger-facts.ts';

/** What was done to the processes. */
export type Deeds = {
  kills: number;
  stops: number;
  /** How often the ledger's database was killed under all processes. */
  crashes?: number;
  /** How often the wall clock of one process was set. */
  clockSteps?: number;
  takeOverMs: number[];
  seconds: number;
  sendingSeconds: number;
  /** `counterfoil verify` proved the ledger in the end. */
  verified: boolean;
};
export type Planned = {
  payouts: number;
  minor: number;
  concurrency: number;
  sendDeadlineMs: number;
  /** Requests a second of all processes together; 0 is no limit. */
  perSecond: number;
  /** How many send at the same time, at most. */
  processes: number;
  /** The kind of process whose wall clock is set again and again: what it stamped tells no age. */
  stepped?: string;
};

/** One line of the verdict; `wrong` where the figure must not be so. */
export type Figure = { what: string; value: string; wrong: boolean };

/** The service gets as long to read a body on a loaded machine; the stops are longer. */
const slackMs = 2000;
/** Where the others look for the dead once a second, as here: even on a machine that is much too small. */
export const longestTakeOverMs = 60_000;

/** Compares the plan, the ledger and the service's own book: nobody paid twice, nothing lost, nothing false. */
export function judge(planned: Planned, deeds: Deeds, ledger: LedgerView, book: Transfer[]): Figure[] {
  const listed = new Map<string, Transfer[]>();
  for (const transfer of book)
    listed.set(transfer.reference, [...(listed.get(transfer.reference) ?? []), transfer]);
  const twice = [...listed.values()].filter((all) => all.length > 1).length;
  const seen = compare(ledger, listed, planned);
  const bookMinor = book.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
  const abandoned = ledger.abandoned();
  const crashes = deeds.crashes ?? 0;
  const bound = (deeds.kills + planned.processes * crashes) * planned.concurrency;
  const times = deeds.takeOverMs.toSorted((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  const figure = (what: string, value: number | string, wrong = false): Figure => ({
    what,
    value: String(value),
    wrong,
  });
  return [
    figure('kills (SIGKILL)', deeds.kills),
    figure('stops (SIGSTOP, then SIGCONT)', deeds.stops),
    ...(deeds.clockSteps === undefined
      ? []
      : [figure('steps of the wall clock of one process', deeds.clockSteps, deeds.clockSteps === 0)]),
    ...(crashes > 0 ? [figure('kills of the database (SIGQUIT, then recovery)', crashes)] : []),
    figure('POSTs booked by the service', book.length),
    figure('POSTs per second', Math.round(book.length / deeds.sendingSeconds)),
    figure('payouts sent twice', twice, twice > 0),
    figure(
      'payouts lost (final or pending here, not in the book, or the other way round)',
      seen.lost,
      seen.lost > 0,
    ),
    figure('bodies that left after their deadline', seen.late, seen.late > 0),
    figure('intents found too old and not sent', ledger.tooOld()),
    figure('claims taken over', `${abandoned} (at most ${bound})`, abandoned > bound),
    figure('other unknown answers', ledger.unknownAnswers()),
    figure('ordered once more by a person, since they never reached the service', ledger.retries()),
    figure('unknown at the end', seen.unknown, seen.unknown > 0),
    figure(
      'rows left ready, held or sending',
      ledger.unfinished() + ledger.openAttempts(),
      ledger.unfinished() + ledger.openAttempts() > 0,
    ),
    figure(
      'time to take over a killed process',
      `median ${median} ms, longest ${times.at(-1) ?? 0} ms, of ${times.length}`,
      (times.at(-1) ?? 0) >= longestTakeOverMs,
    ),
    figure('counterfoil verify', deeds.verified ? 'proven' : 'NOT proven', !deeds.verified),
    figure('planned = in the ledger', `${planned.payouts} = ${seen.rows}`, planned.payouts !== seen.rows),
    figure('planned sum = ledger sum', `${planned.minor} = ${seen.minor}`, planned.minor !== seen.minor),
    figure(
      "ledger sum less unknown = the book's sum",
      `${seen.minor - seen.unknownMinor} = ${bookMinor}`,
      seen.minor - seen.unknownMinor !== bookMinor,
    ),
    figure('seconds', Math.round(deeds.seconds)),
  ];
}

/** One pass over the payouts: whether each is in the book exactly when the ledger says so, and left in time. */
function compare(ledger: LedgerView, listed: Map<string, Transfer[]>, planned: Planned) {
  const longestMs = planned.sendDeadlineMs + slackMs;
  const seen = { rows: 0, minor: 0, lost: 0, late: 0, unknown: 0, unknownMinor: 0 };
  const strangers = new Set(listed.keys());
  for (const { reference, state, minor, attempts } of ledger.each()) {
    seen.rows += 1;
    seen.minor += minor;
    strangers.delete(reference);
    const transfers = listed.get(reference) ?? [];
    const paid = state === 'success';
    if (paid !== transfers.length > 0) seen.lost += 1;
    if (state === 'unknown') {
      seen.unknown += 1;
      seen.unknownMinor += minor;
    }
    for (const { createdAt } of transfers) {
      const stepped = attempts.some(({ kind }) => kind === planned.stepped);
      const own = Math.max(...attempts.map(({ began }) => began).filter((at) => at <= createdAt + 5));
      if (!stepped && createdAt - own > longestMs) seen.late += 1;
    }
  }
  return { ...seen, lost: seen.lost + strangers.size };
}
