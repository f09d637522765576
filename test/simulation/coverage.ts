import { listFlawKinds } from './list-flaw.ts';
import { raceNames } from './races.ts';

/** How often each kind of trouble really happened; a simulation that never hurts proves nothing. */
export type Coverage = {
  count(kind: string): void;
  counts(): Record<string, number>;
};

/** Where a process may be stopped or killed, in the order in which a payout passes them. */
export const points = [
  'before a transaction',
  'after a statement',
  'before a commit',
  'between commit and mark',
  'after a commit',
  'waking from a wait',
  'before the wire',
  'as the bytes leave',
  'as the answer comes',
  'storing a webhook',
] as const;
export type Point = (typeof points)[number];

/** A process that stands still between commit and mark cannot be told from one that stands still after both. */
export function canStopAt(point: Point): boolean {
  return point !== 'between commit and mark';
}

/** What the network, the edge and the service do to one POST. */
export const postFaults = [
  'connection refused',
  'lost before acceptance',
  'lost after acceptance',
  '500 before acceptance',
  '500 after acceptance',
  'HTML page',
  'hang, taken',
  'hang, not taken',
  'wrong echo',
  'success without our reference',
  'success that contradicts its status',
  '429 with envelope',
  '429 without envelope',
  '401 page',
  'refused 24',
  'halt 10',
  'code 100',
  'reset after body',
  'late on the network',
] as const;
export type PostFault = (typeof postFaults)[number];

/** What becomes of a question. */
export const questionFaults = [
  'no connection',
  'no answer',
  'server error',
  'throttled',
  'foreign page',
] as const;
export type QuestionFault = (typeof questionFaults)[number];

/** What becomes of a webhook on its way to us. */
export const webhookFaults = ['lost', 'doubled', 'late', 'early', 'forged', 'stale', 'false'] as const;
export type WebhookFault = (typeof webhookFaults)[number];

/** What befalls the machine. */
const machineFaults = [
  'clock set forward',
  'clock set back',
  'disk full',
  'orderly stop',
  'second process',
  'stopped at the last check',
  'taken over alive',
  'page shift',
  'resent by confirmed absence',
  'another host, its clock off by days',
] as const;

/** How the clock of the machine was set. */
const clockFaults = [
  'forward by seconds',
  'back by seconds',
  'forward by an hour',
  'back by an hour',
  'forward by days',
  'back by days',
  'forward by a year',
  'back by a year',
] as const;

/** What became of orders that waited. */
const waitingFaults = [
  'sent more than two minutes after its order',
  'sent more than a day after its order',
  'the service changed its mind while it waited',
  'its evidence changed, and it was not sent',
] as const;

/** What became of another account being named. */
const accountFaults = [
  'another address named',
  'another key named',
  'sent to another account',
  'asked another account about what went elsewhere',
] as const;

/** What became of schedules, the empty one first, and the jobs that they ran. */
const scheduleFaults = [
  'a daemon begins without one',
  'ready beside such a daemon',
  'computed again after a step of the clock',
  'intake',
  'submit',
  'follow_up',
  'reconcile',
] as const;

/** What became of the schedule and the days of a zone whose clock changes. */
const zoneFaults = [
  'the clock goes forward under a daemon',
  'the clock goes back under a daemon',
  'due where the clock goes forward',
  'due where the clock goes back',
  'sent on a later day',
] as const;

/** What happened to files. */
const fileFaults = [
  'in pieces, the writer still at it',
  'in pieces, cut in a row',
  'killed between a batch and its bad rows',
  'bad rows given back',
  'bytes came after it was read',
  'held for late bytes, and released',
] as const;

/** What became of money that came back and was shown as failed. */
const returnFaults = ['shown as failed', 'undone after it was paid again', 'told as paid_twice'] as const;

/** What was on paper. */
const paperFaults = [
  'reconciled',
  'exceptions',
  'not_compared',
  'promised and interrupted',
  'written after an interruption',
  'a month closed',
  'after a month was closed',
] as const;

/** How the brakes of the office were met. */
const brakeMeetings = [
  'sent with an approval',
  'approval begins to be asked',
  'sent on a later day',
  'rows name days',
  'sent on its day',
  'sent after its day',
  'our clock in a day to come',
  'our clock in a day gone by',
  'canary passed',
  'canary released',
  'held at intake, sent when released',
] as const;

/** How an old copy of the ledger comes into its place. */
export type WayBack = 'backup restored' | 'put over its mark' | 'put without its mark';
const ledgerFaults = [
  'backup restored',
  'put over its mark',
  'put without its mark',
  'adopted',
  'a lost file dropped again',
  'a payout forgotten',
  'its wait ended by a list',
  'its wait ended by a person',
] as const;

/** Second payments that no client can prevent: they must happen too, and be reported as what they are. */
const unknowables = ['shown too late', 'stopped after the last check', 'turned too late'] as const;

/** What people do. */
export const peoplesActs = [
  'hold batch',
  'release batch',
  'hold mode',
  'release mode',
  'end the wait',
  'cancel',
  'pay anew',
  'retry rightly',
  'retry wrongly',
  'settle rightly',
  'settle wrongly',
  'approve',
  'approve own',
  'approve what changed',
] as const;
export type PeoplesAct = (typeof peoplesActs)[number];

/** Every kind that a long run must have seen often; `group: name` as counted. */
export const allKinds: readonly string[] = [
  ...points.map((point) => `crash: ${point}`),
  ...points.filter(canStopAt).map((point) => `pause: ${point}`),
  ...postFaults.map((fault) => `POST: ${fault}`),
  ...questionFaults.map((fault) => `question: ${fault}`),
  ...webhookFaults.map((fault) => `webhook: ${fault}`),
  ...machineFaults.map((fault) => `machine: ${fault}`),
  ...brakeMeetings.map((meeting) => `brake: ${meeting}`),
  ...peoplesActs.map((act) => `person: ${act}`),
  'person: close what is left',
  ...ledgerFaults.map((fault) => `ledger: ${fault}`),
  ...clockFaults.map((fault) => `clock: ${fault}`),
  ...waitingFaults.map((fault) => `waiting: ${fault}`),
  ...accountFaults.map((fault) => `account: ${fault}`),
  ...scheduleFaults.map((fault) => `schedule: ${fault}`),
  ...zoneFaults.map((fault) => `zone: ${fault}`),
  ...fileFaults.map((fault) => `file: ${fault}`),
  ...paperFaults.map((fault) => `paper: ${fault}`),
  ...returnFaults.map((fault) => `return: ${fault}`),
  ...raceNames.map((race) => `race: ${race}`),
  ...listFlawKinds.map((kind) => `list: ${kind}`),
  ...unknowables.map((cause) => `paid twice: ${cause}`),
];

export function createCoverage(): Coverage {
  const counts = new Map<string, number>();
  return {
    count: (kind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1),
    counts: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Adds the counts of one run to those of others. */
export function addCounts(sum: Record<string, number>, more: Record<string, number>): void {
  for (const [kind, n] of Object.entries(more)) sum[kind] = (sum[kind] ?? 0) + n;
}
