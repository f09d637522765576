import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';

/** What the bench may ask of the process that plays the payments service. */
export type Order = { do: 'settle' } | { do: 'stop' };
/** What it answers: once when both services listen, then once an order. `money` is the main book's successes. */
export type Answer =
  | { kind: 'ready'; main: string; bare: string; secretKey: string; publicKey: string; encryptionKey: string }
  | { kind: 'settled'; successes: number };

// Two services of one kind in one process: the bare loop's transfers must not stand in the list that is reconciled.
const settleMs = 3_600_000;
const main = await createSandbox({ settleMs });
const bare = await createSandbox({ settleMs });

process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => void stop());
tell({ kind: 'ready', main: main.url, bare: bare.url, ...main.keys.test });

async function obey(order: Order): Promise<void> {
  if (order.do === 'stop') return stop();
  await main.settleAll();
  tell({ kind: 'settled', successes: countSuccesses(main) });
}

async function stop(): Promise<void> {
  await Promise.all([main.stop(), bare.stop()]);
  process.exit(0);
}

function countSuccesses(sandbox: Sandbox): number {
  return sandbox.book.transfers().filter((transfer) => transfer.status === 'success').length;
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
