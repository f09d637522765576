import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/core/runtime/queue.ts';
import { QueueAway } from '../../../src/core/runtime/queue.ts';
import { sharedQueue } from '../../support/shared-queue.ts';

type Server = { kill: (() => Promise<void>) | null; start(): Promise<void> };

const job = (id: string): Job => ({ name: 'share', id, payload: { batch: id } });
const patience = { timeout: 20_000, interval: 50 };

/** What a worker had begun is not lost with it. */
export function itHandsOver(wire: Parameters<typeof sharedQueue>[0]): void {
  it('hands the job of a worker that vanished to another', async () => {
    const space = randomUUID();
    const [dies, lives] = [sharedQueue(wire, { space }), sharedQueue(wire, { space })];
    let begun = 0;
    dies.queue.process('share', () => new Promise(() => begun++), { concurrency: 1 });
    await dies.queue.add(job('b-1'));
    await expect.poll(() => begun, patience).toBe(1);
    expect(await dies.queue.close(10)).toBe('abandoned');
    const ran: string[] = [];
    lives.queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await expect.poll(() => ran, patience).toEqual(['b-1']);
    await lives.queue.close(1000);
  });
}

/** What a shared queue does while its server is away. `server` can be killed and started again. */
export function describeOutage(
  name: string,
  make: () => ReturnType<typeof sharedQueue>,
  server: Server | null,
): void {
  describe.skipIf(server === null || server.kill === null)(`a ${name} that goes away`, () => {
    it('is waited for when it is not there at the start, and said to be away once', async () => {
      await server?.kill?.();
      const { queue, heard } = make();
      await expect(queue.add(job('b-1'))).rejects.toThrow(QueueAway);
      await expect(queue.depth()).rejects.toThrow(QueueAway);
      let runs = 0;
      queue.process('share', async () => void runs++, { concurrency: 1 });
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect([heard.away.length, heard.back]).toEqual([1, 0]);
      expect(heard.away[0]).toMatch(/ECONNREFUSED/);
      await server?.start();
      await expect.poll(() => heard.back, patience).toBe(1);
      expect(await queue.add(job('b-1'))).toBe('added');
      await expect.poll(() => runs, patience).toBe(1);
      expect(await queue.close(1000)).toBe('drained');
    });

    it('is found again after a restart, whatever was running goes on, and the next job runs', async () => {
      const { queue, heard } = make();
      const gate = Promise.withResolvers<void>();
      const ran: string[] = [];
      const work = async (given: Job): Promise<void> => {
        if (given.id === 'b-1' && ran.push('begun') === 1) await gate.promise;
        ran.push(given.id);
      };
      queue.process('share', work, { concurrency: 1 });
      await queue.add(job('b-1'));
      await expect.poll(() => ran, patience).toEqual(['begun']);
      await server?.kill?.();
      await expect.poll(() => heard.away.length, patience).toBe(1);
      await expect(queue.add(job('b-2'))).rejects.toThrow(QueueAway);
      await server?.start();
      await expect.poll(() => heard.back, patience).toBe(1);
      expect(heard.away).toHaveLength(1);
      expect(await queue.add(job('b-2'))).toBe('added');
      // The lane has one slot, and what was begun before still holds it.
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(ran).toEqual(['begun']);
      gate.resolve();
      await expect.poll(() => ran.includes('b-2'), patience).toBe(true);
      expect(await queue.close(1000)).toBe('drained');
    });

    it('does not keep a process from closing', async () => {
      const { queue, heard } = make();
      queue.process('share', async () => undefined, { concurrency: 1 });
      await queue.add(job('b-9'));
      await expect.poll(() => queue.depth()).toBe(0);
      await server?.kill?.();
      await expect.poll(() => heard.away.length, patience).toBe(1);
      const began = performance.now();
      expect(await queue.close(5000)).toBe('drained');
      expect(performance.now() - began).toBeLessThan(3000);
      await server?.start();
    });
  });
}
