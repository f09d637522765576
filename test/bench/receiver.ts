import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { asCommandsRun } from './heap.ts';
import { deliverAll, deliverEvenly, deliverUntilGone, events } from './receiver-load.ts';
import type { Kind, Listening, Told } from './receiver-process.ts';

const script = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));

export type ReceiverFigures = {
  rows: number;
  seconds: number;
  bareSeconds: number;
  /** Microseconds of processor time that a delivery takes of the receiving process, at full load. */
  cpu: { ours: number; bare: number };
  /** Both at half of the rate that `seconds` stands for: what the bare server takes is the machine's and the load's. */
  half: { perSecond: number; ours: EvenLoad; bare: EvenLoad };
  /** Applied meanwhile: seconds until all were answered, and until all were applied. */
  applying: { answered: number; applied: number; loopMax: number };
  /** Killed with SIGKILL under full load: how many were acknowledged, and how many of these the ledger holds. */
  killed: { acknowledged: number; found: number };
};

/** Times of answers, ms; `loopMax` is the longest that the event loop was held. */
type EvenLoad = { p50: number; p99: number; loopMax: number };

/** Delivers `rows` events, each another one, as fast as they are answered: to ours, and to the bare HMAC server. */
export async function measureReceiver(rows: number): Promise<ReceiverFigures> {
  const ours = await withServer('ours', rows, async (server) => {
    const full = await fullLoad(server, rows);
    const perSecond = Math.round(rows / full.seconds / 2);
    return { ...full, perSecond, half: await evenLoad(server, rows, perSecond) };
  });
  const { perSecond } = ours;
  const bare = await withServer('bare', rows, async (server) => {
    const full = await fullLoad(server, rows);
    return { ...full, half: await evenLoad(server, rows, perSecond) };
  });
  return {
    rows,
    seconds: ours.seconds,
    bareSeconds: bare.seconds,
    cpu: { ours: ours.cpu, bare: bare.cpu },
    half: { perSecond, ours: ours.half, bare: bare.half },
    applying: await withServer('applying', rows, (server) => sustainedLoad(server, rows)),
    killed: await killUnderLoad(rows),
  };
}

/** What the figures say beside the table of the other steps, a line each. */
export function receiverWords({ rows, cpu, half, applying, killed }: ReceiverFigures): string[] {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const even = ({ p50, p99, loopMax }: EvenLoad): string =>
    `p50 ${ms(p50)}, p99 ${ms(p99)}, event loop held ${ms(loopMax)} at most`;
  return [
    `processor time a delivery: ours ${cpu.ours.toFixed(0)} µs, bare ${cpu.bare.toFixed(0)} µs`,
    `at half of its rate (${half.perSecond}/s): ${even(half.ours)}`,
    `the bare server at the same rate: ${even(half.bare)}`,
    `applying meanwhile: ${Math.round(rows / applying.answered)}/s answered, ${Math.round(rows / applying.applied)}/s answered and applied, event loop held ${ms(applying.loopMax)} at most`,
    `kill -9 under load: ${killed.acknowledged} acknowledged, ${killed.found} of them in the ledger`,
  ];
}

type Server = Listening & { child: ChildProcess; tell(): Promise<Told> };

async function fullLoad(server: Server, rows: number): Promise<{ seconds: number; cpu: number }> {
  await deliverAll(server.port, events(rows, 'WARM'));
  const load = events(rows, 'FULL');
  await server.tell();
  const seconds = await deliverAll(server.port, load);
  return { seconds, cpu: ((await server.tell()).cpuMs * 1000) / rows };
}

async function evenLoad(server: Server, rows: number, perSecond: number): Promise<EvenLoad> {
  const load = events(Math.min(rows, 5 * perSecond), 'HALF');
  await server.tell();
  const times = await deliverEvenly(server.port, load, perSecond);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), loopMax: (await server.tell()).loopMaxMs };
}

async function sustainedLoad(server: Server, rows: number): Promise<ReceiverFigures['applying']> {
  const load = events(rows, 'OURS');
  await server.tell();
  const began = performance.now();
  const answered = await deliverAll(server.port, load);
  let loopMax = 0;
  for (;;) {
    const told = await server.tell();
    loopMax = Math.max(loopMax, told.loopMaxMs);
    if (told.unapplied === 0) return { answered, applied: (performance.now() - began) / 1000, loopMax };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function killUnderLoad(rows: number): Promise<ReceiverFigures['killed']> {
  const server = await start('ours', rows);
  const gone = once(server.child, 'exit');
  const acknowledged = await deliverUntilGone(server.port, events(rows, 'KILL'), (count) => {
    if (count === Math.ceil(rows / 2)) server.child.kill('SIGKILL');
  });
  await gone;
  const ledger = await openLedger(server.ledgerFile, { now: () => new Date().toISOString() });
  const kept = await ledger.db.selectFrom('webhooks').select('reference').execute();
  await ledger.close();
  await rm(dirname(server.ledgerFile), { recursive: true });
  const found = kept.filter(({ reference }) => reference !== null && acknowledged.has(reference)).length;
  return { acknowledged: acknowledged.size, found };
}

async function withServer<T>(kind: Kind, rows: number, work: (server: Server) => Promise<T>): Promise<T> {
  const server = await start(kind, rows);
  try {
    return await work(server);
  } finally {
    const gone = once(server.child, 'exit');
    server.child.disconnect();
    await gone;
  }
}

async function start(kind: Kind, rows: number): Promise<Server> {
  const child = fork(script, [kind, String(rows)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: kind === 'bare' ? [] : [...asCommandsRun],
  });
  const [listening]: Listening[] = await once(child, 'message');
  if (!listening) throw new Error('the receiver did not say where it listens');
  const tell = async (): Promise<Told> => {
    const answer = once(child, 'message');
    child.send('figures');
    const [told]: Told[] = await answer;
    if (!told) throw new Error('the receiver did not answer');
    return told;
  };
  return { ...listening, child, tell };
}
