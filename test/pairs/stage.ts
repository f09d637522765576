import type { App } from '../../src/app/app.ts';
import type { BatchFile } from '../simulation/batch-files.ts';
import type { PostFault, QuestionFault, WebhookFault } from '../simulation/coverage.ts';
import type { Daemon } from '../simulation/daemon.ts';
import type { Life } from '../simulation/life.ts';
import type { Random } from '../simulation/random.ts';
import type { Town } from '../simulation/town.ts';
import type { Needs, Opening } from './opening.ts';

/** A fault that befalls so many more messages, of the references that it is about. */
export type Fault<Name> = { name: Name; left: number; of(reference: string): boolean };

/** What the service and the network do now, besides what they do on a calm day. */
export type Switches = {
  posts: Fault<PostFault>[];
  questions: Fault<QuestionFault>[];
  webhooks: Fault<WebhookFault>[];
  /** Refusals with code 10 become refusals with code 22. */
  codeIs22: boolean;
  /** What the wallet holds, as the service words it; null: enough. */
  balance: string | null;
  holder: string | null;
  /** How long a transfer that is taken now stays hidden. */
  hiddenMs: number;
  /** When and how transfers settle, by reference. */
  settlements: Map<string, { ms: number; paid: boolean }>;
};

/** Where one of the moves of a play is made. Each has a name of its own for the file that it may bring. */
export type Seat = {
  number: number;
  /** The other seats, those that began before it first. */
  others: Seat[];
  file: BatchFile | null;
  /** What it acted on, for those that come after. */
  touched: string[];
  /** What came of it; `did`: something. Null while nothing did. */
  outcome: { did: boolean; what: string } | null;
  begunAt: number;
  /** It comes by itself at that time, true time. */
  comesAt: number;
};

/** Everything that a move can reach. */
export type Stage = {
  town: Town;
  daemon: Daemon;
  root: string;
  /** The play's number: it decides between what two plays of one kind may do. */
  number: number;
  random: Random;
  opening: Opening;
  switches: Switches;
  files: BatchFile[];
  /** Batches that a person cancelled and nobody has ordered anything of since, with the last attempt of that moment. */
  cancelled: Map<string, number>;
  /** Files of which nothing may go before a person has let their batch go, and why. */
  mustWait: Map<BatchFile, string>;
  /** The process that reconciles by a person's order. */
  reconciling: { name: string; alive: boolean } | null;
  /** The day that has to come before the play is over; empty: none. */
  waitsUntil: string;
  /** What people undo when the calm begins. */
  amends: (() => void)[];
  wentBack(): void;
  /** Puts what came of a move on record, once. */
  note(seat: Seat, did: boolean, what: string): void;
  /** A command of a person in its own process; nothing where the ledger is shut. */
  command(work: (app: App, life: Life) => Promise<void>, begun?: (life: Life) => void): void;
  /** Calls `then` as soon as that is so, looking twice a second. */
  when(isSo: () => boolean, then: () => void): void;
};

/** One thing that the program can do, or meet. */
export type Move = {
  needs?: Needs;
  touchesMoney: boolean;
  /** Sets it in motion; what comes of it is noted at its seat. */
  begin(stage: Stage, seat: Seat): void;
};

/** The payouts of a file as they stand, in its order. */
export function payoutsOf(
  { town }: Stage,
  file: BatchFile | null,
): { id: number; reference: string; state: string; batch_id: string }[] {
  if (!file) return [];
  const sql = `select p.id, p.reference, p.state, p.batch_id from payouts p join batches b on b.id = p.batch_id
    where b.file_name = ? and b.phase = 'loaded' order by p.id`;
  return town.inspector.rows(sql, file.name);
}

export function batchOf(
  { town }: Stage,
  file: BatchFile | null,
): { id: string; hold_reasons: string } | undefined {
  const sql = "select id, hold_reasons from batches where file_name = ? and phase = 'loaded'";
  return town.inspector.rows<{ id: string; hold_reasons: string }>(sql, file?.name ?? '')[0];
}

/** Whether one of the kinds of a batch's reasons is this. */
export function isHeldFor(stage: Stage, file: BatchFile | null, kind: string): boolean {
  const reasons: { kind: string }[] = JSON.parse(batchOf(stage, file)?.hold_reasons ?? '[]');
  return reasons.some((reason) => reason.kind === kind);
}

/** Kills a process at the first point at which that is so, and goes on with `then`. */
export function killAt(life: Life, isSo: () => boolean, then: () => void = () => undefined): void {
  const { pass } = life;
  life.pass = (point) => {
    if (life.alive && isSo()) {
      life.kill(`killed ${point}`);
      then();
    }
    return pass(point);
  };
}

/** P21: nothing of a cancelled batch goes out by itself, whatever comes back unsent. */
export function judgeCancelled({ town, cancelled }: Stage): void {
  const sql = `select p.reference from attempts a join payouts p on p.id = a.payout_id
    where p.batch_id = ? and a.id > ? limit 1`;
  for (const [batch, last] of cancelled)
    for (const { reference } of town.inspector.rows<{ reference: string }>(sql, batch, last))
      town.world.violate(
        'P21: nothing of a cancelled batch goes by itself',
        `it was sent of ${batch}`,
        reference,
      );
}

/** A person has cancelled the batch; or, `false`, orders something of it again. */
export function noteCancelled(stage: Stage, batch: string, is: boolean): void {
  judgeCancelled(stage);
  stage.cancelled.delete(batch);
  const [last] = stage.town.inspector.rows<{ id: number | null }>('select max(id) as id from attempts');
  if (is) stage.cancelled.set(batch, last?.id ?? 0);
}

/** What the service alone gives as a reason: an older copy of the ledger knows nothing of it, and asks again. */
const servicesReasons: ReadonlySet<string> = new Set(['balance', 'account_names', 'check_unreadable']);

/** P2, P21: what has a reason to wait does not go before somebody lets it go. */
export function judgeWaiting({ town, mustWait }: Stage): void {
  const sql = `select p.reference from attempts a join payouts p on p.id = a.payout_id
    join batches b on b.id = p.batch_id where b.file_name = ? limit 1`;
  for (const [{ name }, why] of mustWait) {
    if (servicesReasons.has(why) && town.fall.fellAt() !== null) continue;
    for (const { reference } of town.inspector.rows<{ reference: string }>(sql, name))
      town.world.violate('P21: what has a reason to wait waits', `${name} was sent: ${why}`, reference);
  }
}

/** The service has no such reason any more: what it was not asked about meanwhile may go. */
export function forgetUnasked(stage: Stage): void {
  judgeWaiting(stage);
  for (const [file, why] of stage.mustWait)
    if (servicesReasons.has(why) && !isHeldFor(stage, file, why)) stage.mustWait.delete(file);
}

/** A person lets the batch go. */
export function noteLetGo(stage: Stage, batch: string): void {
  judgeWaiting(stage);
  for (const file of stage.mustWait.keys())
    if (batchOf(stage, file)?.id === batch) stage.mustWait.delete(file);
}
