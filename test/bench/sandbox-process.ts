import { createSandbox } from '../../src/sandbox/sandbox.ts';
import type { Answer, Order } from './service.ts';

const sandbox = await createSandbox({ settleMs: 3_600_000 });

process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => void stop());
tell({ kind: 'ready', url: sandbox.url, ...sandbox.keys.test });

async function obey(order: Order): Promise<void> {
  if (order.do === 'stop') return stop();
  await sandbox.settleAll();
  tell({ kind: 'settled', successes: countSuccesses() });
}

async function stop(): Promise<void> {
  await sandbox.stop();
  process.exit(0);
}

function countSuccesses(): number {
  return sandbox.book.transfers().filter((transfer) => transfer.status === 'success').length;
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
