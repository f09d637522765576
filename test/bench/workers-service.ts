import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** What the bench may ask the process that plays the payments service. */
export type Order = 'tell';
/** Told once when it listens, then once an order. Instants are wall-clock milliseconds. */
export type Answer =
  | { kind: 'ready'; url: string; secretKey: string; publicKey: string; encryptionKey: string }
  | { kind: 'told'; posts: number; references: number; instants: number[] };

const [latencyMs, settleMs] = process.argv.slice(2).map(Number);
const sandbox = await createSandbox({
  latencyMs: latencyMs ?? 0,
  settleMs: settleMs ?? 3_600_000,
  // Whoever sends twice is to be seen.
  duplicates: 'accept',
});

process.on('message', tellBook);
process.on('disconnect', () => void sandbox.stop().then(() => process.exit(0)));
const { secretKey, publicKey, encryptionKey } = sandbox.keys.test;
tell({ kind: 'ready', url: sandbox.url, secretKey, publicKey, encryptionKey });

function tellBook(): void {
  const booked = sandbox.book.transfers();
  tell({
    kind: 'told',
    posts: booked.length,
    references: new Set(booked.map(({ reference }) => reference)).size,
    instants: booked.map((transfer) => Date.parse(transfer.created_at)),
  });
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
