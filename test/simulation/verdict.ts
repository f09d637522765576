import { createHash } from 'node:crypto';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { problemTexts } from '../custody/worded.ts';
import type { BatchFile } from './batch-files.ts';
import type { Entry as BookEntry } from './book.ts';
import { judgeFiles } from './files-verdict.ts';
import type { Told } from './inspector.ts';
import { stranger } from './list-flaw.ts';
import { isOthersList, judgeStatement } from './statement-verdict.ts';
import type { Town } from './town.ts';
import { isSame } from './watch.ts';
import { forgery } from './webhooks.ts';

/** What the whole day came to, where it is no violation. */
export type Tally = {
  payouts: number;
  posts: number;
  paid: number;
  operator: number;
  hidden: number;
  stopped: number;
  /** Paid anew, and what it followed turned out to be paid when it was on its way already. */
  turned: number;
};

/** reconciliation.stale_pending_hours. */
const staleMs = 24 * 3_600_000;

type Final = Pick<Told, 'reference' | 'state' | 'evidence' | 'amount' | 'currency' | 'account_number'> & {
  id: number;
  file_name: string;
  hold_reasons: string;
  successor_of: number | null;
  withheld_by: string | null;
  attempt_count: number;
  history_seq: number;
  history_head: string;
};

/** The oracle at the end: all troubles are over, everything shows itself, and every payout must have come to its end. */
export async function judgeTheEnd(town: Town, files: readonly BatchFile[]): Promise<Tally> {
  const { inspector } = town;
  const payouts = inspector.rows<Final>(`
    select p.*, b.file_name, b.hold_reasons from payouts p join batches b on b.id = p.batch_id order by p.id`);
  judgeIntake(town, files, payouts);
  judgeFiles(town, files);
  const tally = { payouts: payouts.length, posts: 0, paid: 0, operator: 0, hidden: 0, stopped: 0, turned: 0 };
  for (const payout of payouts) {
    judgePayout(town, payout);
    judgeHistory(town, payout);
    countMoney(town, payout, tally);
  }
  judgeForgotten(town, payouts, tally);
  judgeSuccessors(town, payouts, tally);
  judgeWebhooks(town);
  await judgeProof(town);
  await judgeStatement(town);
  return tally;
}

/** Every row of every file is in the ledger exactly once, with its amount; nothing else is. */
function judgeIntake(town: Town, files: readonly BatchFile[], payouts: readonly Final[]): void {
  const fail = (detail: string): void => town.world.violate('every payout is in the ledger once', detail);
  const kept = files.filter(({ name }) => !town.fall.forgottenFiles.has(name));
  const wanted = kept.flatMap(({ name, rows }) => rows.map((row) => ({ ...row, name })));
  const byReference = new Map(payouts.map((payout) => [payout.reference, payout]));
  const taken = payouts.filter(({ successor_of }) => successor_of === null);
  if (wanted.length !== taken.length) fail(`${wanted.length} were ordered, the ledger has ${taken.length}`);
  for (const { reference, minor, name } of wanted) {
    const payout = byReference.get(reference);
    if (payout?.amount !== minor || payout.file_name !== name)
      fail(`${reference} of ${name} is missing or differs`);
  }
}

/** At rest the ledger and the service's book agree, or a person has been told of it. */
function judgePayout(town: Town, payout: Final): void {
  const { reference, state } = payout;
  const wasForgotten = town.decisions.isOrderedAgain(reference);
  const places = town.evidence.placesOf(reference);
  // What a ledger that was lost sent to another account, nobody can know who asks this one.
  const isKnowable = ({ account }: BookEntry): boolean =>
    !wasForgotten || account === 'home' || places.includes(account);
  const all = town.service.book.entries(reference);
  const entries = all.filter(isKnowable);
  const paid = entries.filter((entry) => entry.moved && !isShownBack(entry));
  const told = tellings(town, reference);
  const fail = (detail: string): void =>
    town.world.violate('every payout reaches its end, or a person', `${state}, and ${detail}`, reference);
  switch (state) {
    case 'held':
      // What the service already shows, or whose predecessor did not fail after all, is kept back; a person was told.
      if (
        payout.hold_reasons === '[]' &&
        told.length === 0 &&
        !followsDoubtful(town, payout) &&
        !awaitsWord(town, payout)
      )
        fail('nothing keeps it any more');
      return;
    case 'ready':
    case 'sending': {
      if (state === 'ready' && awaitsAnotherAccount(town)) return;
      fail('nothing keeps it any more');
      return;
    }
    case 'success':
      // It may have been known for a while, by a list of the other account.
      if (
        all.some((entry) => entry.moved && mayStand(entry) && isSame(entry.record, { ...told0, ...payout }))
      )
        break;
      // On the word of a person alone it stays so until evidence comes (P32), and the statement has it as unseen.
      if (told.length === 0 && payout.evidence !== 'person') fail('the service did not pay it');
      break;
    case 'returned':
      judgeReturned(town, payout, entries);
      break;
    case 'failed':
    case 'refused':
    case 'cancelled':
      if (paid.some((entry) => mustBeKnown(entry, payout)) && told.length === 0) fail('the service paid it');
      break;
    case 'pending':
      if (told.length === 0 && !waitsElsewhere(town, payout)) fail('nobody has been told');
      break;
    case 'unknown':
      if (told.length === 0) fail('nobody has been told');
      break;
    default:
      fail('no such state');
  }
  // What came back was paid twice for a while; what is paid twice now, a person must know.
  const kept = paid.filter(({ returned }) => !returned).length;
  const wasResent = town.decisions.retries(reference) > 0 && !wasForgotten;
  const twice = wasResent ? ['paid_twice'] : ['paid_twice', 'duplicate_at_service'];
  if (kept > 1 && !told.some((kind) => twice.includes(kind)))
    fail(`${kept} are paid, and nobody has been told: ${told.join(', ')}`);
}

/** It came back, and the service shows that as a failure. */
function isShownBack({ returned, record }: BookEntry): boolean {
  return returned && record.status === 'failed';
}

/** P36: what came back stays so, or somebody is told that it did not. */
function judgeReturned(town: Town, { reference }: Final, entries: readonly BookEntry[]): void {
  if (entries.some(({ returned }) => returned)) return;
  const undone = entries.some(({ undoneAt }) => undoneAt !== null);
  const told = tellings(town, reference);
  const fail = (detail: string): void =>
    town.world.violate('P36: a return undone is told', detail, reference);
  if (!undone) fail('the service had nothing back');
  else if (!told.includes('paid_twice') && !told.includes('status_conflict'))
    fail(`it is paid again, and a person is told of ${told.join(', ') || 'nothing'}`);
  else
    town.world.coverage.count(
      `return: told as ${told.includes('paid_twice') ? 'paid_twice' : 'status_conflict'}`,
    );
}

/**
 * Money that a payout which ended without it must be told of. At another account, what turned after the configuration went
 * home nobody can know, nor whether a person closed it wrongly.
 */
function mustBeKnown({ account, turnedAt }: BookEntry, { evidence }: Final): boolean {
  return account === 'home' || (turnedAt === null && evidence !== 'person');
}

/** It may be taken for paid for good: what came back at another account after the configuration went home, nobody can know. */
function mayStand({ account, returned }: BookEntry): boolean {
  return !returned || account !== 'home';
}

/**
 * P25: adopted, and the list that must lift the barrier shows nothing of this ledger's, by the product's word and by the
 * book: where one transfer of it lies at home, the list must have lifted it.
 */
function awaitsAnotherAccount({ inspector, service }: Town): boolean {
  const waits = inspector.rows("select 1 from meta where key = 'listing_due'").length > 0;
  if (!waits || !isOthersList(inspector)) return false;
  const payouts = inspector.rows<Pick<Final, 'reference'>>('select reference from payouts');
  return !payouts.some(({ reference }) =>
    service.book.entries(reference).some(({ account }) => account === 'home'),
  );
}

/** Pending at an account that is no longer asked: a person is told of it when it is stale, by the ledger's own times. */
function waitsElsewhere({ inspector, service }: Town, { id, reference }: Final): boolean {
  const sql =
    'select submitted_at as sent, (select started_at from runs order by rowid desc limit 1) as run from payouts where id = ?';
  const [times] = inspector.rows<{ sent: string; run: string }>(sql, id);
  const isYoung = times !== undefined && Date.parse(times.run) - Date.parse(times.sent) < staleMs;
  return isYoung && service.book.entries(reference).every(({ account }) => account !== 'home');
}

/** P31: an attempt of it, or of what it pays again, went to an account that is no longer asked. A person must settle it. */
function awaitsWord(town: Town, { withheld_by, reference, successor_of }: Final): boolean {
  if (withheld_by !== 'answer') return false;
  if (town.evidence.placesOf(reference).some((account) => account !== 'home')) return true;
  const first = predecessor(town, successor_of);
  return first !== undefined && awaitsWord(town, { ...first, withheld_by });
}

function predecessor({ inspector }: Town, id: number | null): Final | undefined {
  return id === null ? undefined : inspector.rows<Final>('select * from payouts where id = ?', id)[0];
}

function followsDoubtful(town: Town, { successor_of }: Final): boolean {
  const first = predecessor(town, successor_of);
  if (!first) return false;
  if (town.service.book.timesPaid(first.reference) > 0) return true;
  return first.state === 'unknown'
    ? tellings(town, first.reference).length > 0
    : followsDoubtful(town, first);
}

const told0 = { payout_id: 0, event: '', source: '', from_state: null, to_state: '', detail: '' };

/** Kinds of discrepancies that are open about a payout. */
function tellings(town: Town, reference: string): string[] {
  return town.inspector
    .rows<{ kind: string }>(
      "select kind from discrepancies where reference = ? and state <> 'resolved' order by kind",
      reference,
    )
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'webhook_missing' && kind !== 'webhook_conflict');
}

type Entry = {
  seq: number;
  at: string;
  event: string;
  source: string;
  from_state: string | null;
  to_state: string;
  detail: string;
  prev_hash: string | null;
  hash: string;
};

/** P27, computed here anew: the chain holds, the row is what its history says, and attempts are as many as counted. */
function judgeHistory(town: Town, payout: Final): void {
  const fail = (detail: string): void =>
    town.world.violate('P27: history rebuilds the ledger', detail, payout.reference);
  const entries = town.inspector.rows<Entry>(
    'select * from history where payout_id = ? order by seq',
    payout.id,
  );
  let previous = '';
  for (const [i, e] of entries.entries()) {
    const fields = [
      previous,
      String(payout.id),
      String(e.seq),
      e.at,
      e.event,
      e.source,
      e.from_state,
      e.to_state,
    ];
    const hash = createHash('sha256')
      .update(JSON.stringify([...fields, e.detail]))
      .digest('hex');
    if (e.seq !== i + 1 || (e.prev_hash ?? previous) !== previous || e.hash !== hash) {
      fail(`the chain breaks at ${e.seq}`);
      return;
    }
    previous = hash;
  }
  const last = entries.at(-1);
  if (last?.to_state !== payout.state || previous !== payout.history_head) fail('the row is not its history');
  const attempts = town.inspector.rows<{ outcome: string | null }>(
    'select outcome from attempts where payout_id = ?',
    payout.id,
  );
  if (attempts.length !== payout.attempt_count)
    fail(`${attempts.length} attempts, ${payout.attempt_count} counted`);
  const open = attempts.filter(({ outcome }) => outcome === null);
  if (open.length > 0) fail(`${open.length} attempts have no outcome and nobody is alive to bring one`);
}

/** P20: what is paid anew has one successor, and its own money stayed here or came back. */
function judgeSuccessors(town: Town, payouts: readonly Final[], tally: Tally): void {
  const { book } = town.service;
  const keeps = (reference: string): boolean =>
    book.entries(reference).some(({ moved, returned }) => moved && !returned);
  const byId = new Map(payouts.map((payout) => [payout.id, payout.reference]));
  const followed = new Set<number>();
  for (const { reference, successor_of: before } of payouts) {
    if (before === null) continue;
    const fail = (detail: string): void => town.world.violate('P20: paid anew once', detail, reference);
    if (followed.has(before)) fail('its predecessor has two successors');
    followed.add(before);
    const first = byId.get(before) ?? '';
    if (!keeps(first) || !keeps(reference)) continue;
    if (turnedTooLate(town, first, reference)) countTurned(town, tally);
    else if (!town.decisions.isSettled(first) && town.decisions.blame(first) === null)
      fail(`${first} was paid too`);
  }
}

/** What no client can know: a transfer turns out to be paid after, or moments before, the bytes that follow it left. */
function turnedTooLate({ service, evidence }: Town, first: string, next: string): boolean {
  const leftAt = evidence.leftAt(next);
  const isLate = ({ turnedAt }: BookEntry): boolean =>
    turnedAt !== null && leftAt !== null && turnedAt > leftAt - 130_000;
  return service.book.entries(first).some(isLate);
}

function countTurned({ world }: Town, tally: Tally): void {
  tally.turned += 1;
  world.coverage.count('paid twice: turned too late');
}

/** P18: nothing that was not signed by the service is kept as its word. */
function judgeWebhooks(town: Town): void {
  const [row] = town.inspector.rows<{ n: number }>(
    'select count(*) as n from webhooks where instr(cast(body as text), ?) > 0',
    forgery,
  );
  if (row && row.n > 0) town.world.violate('P18: a webhook is authentic', `${row.n} forged ones are stored`);
}

/** The product's own proof must come to the oracle's conclusion. */
export async function judgeProof(town: Town): Promise<void> {
  const verdict = await verifyLedger(town.config.ledgerFile);
  if (!verdict.ok) town.world.violate('verify agrees', problemTexts(verdict).slice(0, 5).join('; '));
}

/** P25: what was sent by a ledger that was lost is found as foreign money, and was paid once all the same. */
function judgeForgotten(town: Town, payouts: readonly Final[], tally: Tally): void {
  const { world, service } = town;
  const ours = new Set(payouts.map(({ reference }) => reference));
  const forgotten = new Set(service.book.all().map(({ record }) => record.reference));
  for (const reference of forgotten) {
    if (
      ours.has(reference) ||
      reference === stranger.reference ||
      service.book.entries(reference).every(({ account }) => account !== 'home')
    )
      continue;
    world.coverage.count('ledger: a payout forgotten');
    const found = tellings(town, reference).includes('missing_in_ledger');
    if (town.fall.fellAt() === null || !found)
      world.violate('P25: what the ledger forgot is found', 'the service has it, the ledger not', reference);
    countMoney(town, { reference }, tally);
  }
}

/** Promise 1: money moves once, but for what a person ordered wrongly and what no client can know. */
function countMoney(town: Town, { reference }: Pick<Final, 'reference'>, tally: Tally): void {
  const { book } = town.service;
  tally.posts += book.arrivals(reference).length;
  const paid = book.timesPaid(reference);
  tally.paid += Math.min(1, paid);
  if (paid < 2) return;
  const blame = town.decisions.blame(reference);
  if (blame !== null && turnedTooLate(town, reference, reference)) {
    countTurned(town, tally);
    return;
  }
  if (blame === null) {
    town.world.violate('nobody is paid twice', `paid ${paid} times`, reference);
    return;
  }
  if (paid > 1 + town.decisions.retries(reference)) {
    town.world.violate('nobody is paid more often than ordered', `paid ${paid} times`, reference);
    return;
  }
  if (blame === 'operator') {
    tally.operator += 1;
    return;
  }
  if (blame === 'cannot know: hidden') tally.hidden += 1;
  else tally.stopped += 1;
  const late = blame === 'cannot know: hidden' ? 'shown too late' : 'stopped after the last check';
  town.world.coverage.count(`paid twice: ${late}`);
}
