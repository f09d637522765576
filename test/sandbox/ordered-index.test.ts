import { expect, it } from 'vitest';
import { createOrderedIndex } from '../../src/sandbox/ordered-index.ts';
import { createRandom } from '../../src/sandbox/random.ts';

it('keeps ten thousand items in order, whatever order they come and go in', () => {
  const random = createRandom(7);
  const index = createOrderedIndex<{ key: number }>(({ key }) => key);
  const known = new Map<number, { key: number }>();
  for (let step = 0; step < 30_000; step++) {
    const key = Math.floor(random() * 15_000);
    const item = known.get(key) ?? { key };
    // More come than go at first, so that it grows over many blocks, and more go at the end.
    if (!known.has(key)) {
      known.set(key, item);
      index.insert(item);
    } else if (random() < step / 30_000) {
      known.delete(key);
      index.remove(item);
    }
  }
  const ordered = [...known.values()].toSorted((a, b) => a.key - b.key);
  expect(index.size()).toBe(ordered.length);
  expect(index.slice(0, 20_000, false)).toEqual(ordered);
  expect(index.slice(0, 20_000, true)).toEqual(ordered.toReversed());
  for (const start of [0, 1, 1023, 2048, ordered.length - 3, ordered.length, ordered.length + 5]) {
    expect(index.slice(start, 50, false)).toEqual(ordered.slice(start, start + 50));
    expect(index.slice(start, 50, true)).toEqual(ordered.toReversed().slice(start, start + 50));
  }
  index.remove({ key: ordered[0]?.key ?? 0 });
  expect(index.size()).toBe(ordered.length);
  for (const item of ordered) index.remove(item);
  expect([index.size(), index.slice(0, 10, false)]).toEqual([0, []]);
});

it('moves a hundred thousand items from its front in a moment', () => {
  const index = createOrderedIndex<{ key: number }>(({ key }) => key);
  const items = Array.from({ length: 100_000 }, (_, key) => ({ key }));
  for (const item of items) index.insert(item);
  const began = process.cpuUsage();
  for (const item of items) {
    index.remove(item);
    index.insert(item);
    index.remove(item);
  }
  // One array, moved as a whole each time, takes many seconds.
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(1.5);
});
