import { describe, expect, it } from 'vitest';
import type { Job, Queue } from '../../src/runtime/queue.ts';

/** What every implementation of the queue port must do. `make` gives a queue that tries a job three times with short pauses. */
export function describeQueue(
  name: string,
  make: (onFailed: (job: Job, error: unknown) => void) => Promise<Queue>,
): void {
  const settled = async (queue: Queue): Promise<void> => {
    await expect.poll(() => queue.depth(), { timeout: 10_000, interval: 5 }).toBe(0);
  };
  const job = (id: string): Job => ({ name: 'send', id, payload: { batch: id } });

  describe(`${name} queue`, () => {
    it('runs each job with its payload, also those added before there was a handler', async () => {
      const queue = await make(() => undefined);
      const seen: unknown[] = [];
      await queue.add(job('b-1'));
      queue.process('send', async (given) => void seen.push(given.payload), { concurrency: 1 });
      await queue.add(job('b-2'));
      await settled(queue);
      expect(seen).toEqual([{ batch: 'b-1' }, { batch: 'b-2' }]);
      expect(await queue.close(1000)).toBe('drained');
    });

    it('knows an id while its job is queued or running, and takes it again afterwards', async () => {
      const queue = await make(() => undefined);
      const gate = Promise.withResolvers<void>();
      let runs = 0;
      expect(await queue.add(job('b-1'))).toBe('added');
      expect(await queue.add(job('b-1'))).toBe('known');
      queue.process('send', () => (++runs === 1 ? gate.promise : Promise.resolve()), { concurrency: 1 });
      await expect.poll(() => runs).toBe(1);
      expect(await queue.add(job('b-1'))).toBe('known');
      gate.resolve();
      await settled(queue);
      expect(await queue.add(job('b-1'))).toBe('added');
      await settled(queue);
      expect(runs).toBe(2);
      await queue.close(1000);
    });

    it('never runs more jobs of a name at once than its concurrency', async () => {
      const queue = await make(() => undefined);
      let now = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
      };
      queue.process('send', work, { concurrency: 3 });
      await Promise.all(Array.from({ length: 20 }, (_, index) => queue.add(job(`b-${index}`))));
      await settled(queue);
      expect(most).toBe(3);
      await queue.close(1000);
    });

    it('tries a failing job three times, reports it once, and goes on with the next', async () => {
      const failed: string[] = [];
      const queue = await make((given) => failed.push(given.id));
      const tries: string[] = [];
      const work = async (given: Job): Promise<void> => {
        tries.push(given.id);
        if (given.id === 'b-1' || (given.id === 'b-2' && tries.filter((id) => id === 'b-2').length === 1))
          throw new Error('no');
      };
      queue.process('send', work, { concurrency: 1 });
      for (const id of ['b-1', 'b-2', 'b-3']) await queue.add(job(id));
      await settled(queue);
      expect(failed).toEqual(['b-1']);
      expect(tries.toSorted()).toEqual(['b-1', 'b-1', 'b-1', 'b-2', 'b-2', 'b-3']);
      await queue.close(1000);
    });

    it('starts nothing while paused, and nothing before its delay', async () => {
      const queue = await make(() => undefined);
      const order: string[] = [];
      queue.process('send', async (given) => void order.push(given.id), { concurrency: 1 });
      await queue.pause();
      await queue.add({ ...job('late'), delayMs: 50 });
      await queue.add(job('soon'));
      expect([order, await queue.depth()]).toEqual([[], 2]);
      await queue.resume();
      await settled(queue);
      expect(order).toEqual(['soon', 'late']);
      await queue.close(1000);
    });

    it('says at close whether what ran was finished', async () => {
      const obedient = await make(() => undefined);
      let started = 0;
      const untilAborted = (_: Job, signal: AbortSignal): Promise<void> =>
        new Promise((resolve) => {
          started++;
          signal.addEventListener('abort', () => resolve());
        });
      obedient.process('send', untilAborted, { concurrency: 1 });
      await obedient.add(job('b-1'));
      await expect.poll(() => started).toBe(1);
      expect(await obedient.close(5000)).toBe('drained');

      const stubborn = await make(() => undefined);
      const neverEnds = (): Promise<void> => {
        started++;
        return new Promise(() => undefined);
      };
      stubborn.process('send', neverEnds, { concurrency: 1 });
      await stubborn.add(job('b-1'));
      await expect.poll(() => started).toBe(2);
      expect(await stubborn.close(20)).toBe('abandoned');
    });

    it.each(['', '42', 'a:b'])('refuses the id %j, which not every implementation could hold', async (id) => {
      const queue = await make(() => undefined);
      await expect(queue.add(job(id))).rejects.toThrow(TypeError);
      await queue.close(1000);
    });
  });
}
