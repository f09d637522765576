import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Answer, Order } from './service.ts';

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
