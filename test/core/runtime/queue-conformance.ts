import { describe, expect, it } from 'vitest';
import type { Job, Queue, RetryPolicy } from '../../../src/core/runtime/queue.ts';

/** How the queues of these tests retry: often enough to see the pauses grow, short enough to wait for. */
export const retry: RetryPolicy = { attempts: 3, backoffMs: 10 };

/** What every implementation of the queue port must do. `make` gives a queue that tries a job three times with short pauses. */
export function describeQueue(
  name: string,
  make: (onFailed: (job: Job, error: unknown) => void) => Promise<Queue>,
  options: { skip?: boolean } = {},
): void {
  const settled = async (queue: Queue): Promise<void> => {
    await expect.poll(() => queue.depth(), { timeout: 10_000, interval: 5 }).toBe(0);
  };
  const job = (id: string): Job => ({ name: 'send', id, payload: { batch: id } });

  describe.skipIf(options.skip === true)(`${name} queue`, () => {
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
        await new Promise((resolve) => setTimeout(resolve, 20));
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

    it('rests longer after each failure', async () => {
      const queue = await make(() => undefined);
      const at: number[] = [];
      const work = async (): Promise<void> => {
        at.push(performance.now());
        throw new Error('no');
      };
      queue.process('send', work, { concurrency: 1 });
      await queue.add(job('b-1'));
      await settled(queue);
      const [first = 0, second = 0, third = 0] = at;
      expect(second - first).toBeGreaterThanOrEqual(retry.backoffMs - 1);
      expect(third - second).toBeGreaterThanOrEqual(2 * retry.backoffMs - 1);
      await queue.close(1000);
    });

    it('takes the id of a job that failed for good again', async () => {
      const queue = await make(() => undefined);
      let runs = 0;
      const work = async (): Promise<void> => {
        if (++runs <= retry.attempts) throw new Error('no');
      };
      queue.process('send', work, { concurrency: 1 });
      await queue.add(job('b-1'));
      await settled(queue);
      expect(runs).toBe(retry.attempts);
      expect(await queue.add(job('b-1'))).toBe('added');
      await settled(queue);
      expect(runs).toBe(retry.attempts + 1);
      await queue.close(1000);
    });

    it('takes nothing more once it is closed', async () => {
      const queue = await make(() => undefined);
      await queue.close(1000);
      await expect(queue.add(job('b-1'))).rejects.toThrow('the queue is closed');
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

/** What two processes on one server rely on. `make` gives queues of one space, of the other one with `elsewhere`. */
export function describeSharedQueue(
  name: string,
  make: (space: 'here' | 'elsewhere') => Promise<Queue>,
  options: { skip?: boolean } = {},
): void {
  const job = (id: string): Job => ({ name: 'share', id, payload: { batch: id } });
  describe.skipIf(options.skip === true)(`two processes on one ${name} queue`, () => {
    it('share the jobs, each of which runs once', async () => {
      const queues = [await make('here'), await make('here')];
      const ran: string[][] = [[], []];
      for (const [index, queue] of queues.entries()) {
        const work = async (given: Job): Promise<void> => {
          ran[index]?.push(given.id);
          await new Promise((resolve) => setTimeout(resolve, 5));
        };
        queue.process('share', work, { concurrency: 1 });
      }
      await Promise.all(Array.from({ length: 40 }, async (_, n) => queues[n % 2]?.add(job(`b-${n}`))));
      await expect.poll(() => ran.flat().length, { timeout: 10_000 }).toBe(40);
      expect(new Set(ran.flat()).size).toBe(40);
      expect(ran.every((own) => own.length > 0)).toBe(true);
      await Promise.all(queues.map((queue) => queue.close(1000)));
    });

    it('know the ids of each other, and count together', async () => {
      const [one, other] = [await make('here'), await make('here')];
      expect(await one.add(job('b-1'))).toBe('added');
      expect(await other.add(job('b-1'))).toBe('known');
      expect([await one.depth(), await other.depth()]).toEqual([1, 1]);
      let runs = 0;
      other.process('share', async () => void runs++, { concurrency: 1 });
      await expect.poll(() => runs).toBe(1);
      await expect.poll(() => one.depth()).toBe(0);
      await Promise.all([one.close(1000), other.close(1000)]);
    });

    it('leave a pause of one to that one', async () => {
      const [one, other] = [await make('here'), await make('here')];
      const ran: string[] = [];
      one.process('share', async () => void ran.push('one'), { concurrency: 1 });
      other.process('share', async () => void ran.push('other'), { concurrency: 1 });
      await one.pause();
      for (const id of ['b-1', 'b-2', 'b-3']) await other.add(job(id));
      await expect
        .poll(() => ran.filter((who) => who === 'other').length, { timeout: 5000 })
        .toBeGreaterThan(1);
      expect(ran).not.toContain('one');
      await one.close(1000);
      await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(3);
      await other.close(1000);
    });

    it('hear nothing of another ledger or mode on the same server', async () => {
      const [here, elsewhere] = [await make('here'), await make('elsewhere')];
      await here.add(job('b-1'));
      expect(await elsewhere.add(job('b-1'))).toBe('added');
      let runs = 0;
      elsewhere.process('share', async () => void runs++, { concurrency: 1 });
      await expect.poll(() => runs).toBe(1);
      expect([await here.depth(), await elsewhere.depth()]).toEqual([1, 0]);
      await Promise.all([here.close(1000), elsewhere.close(1000)]);
    });
  });
}
