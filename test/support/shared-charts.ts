import { beginCharts as begin, type ChartsThread } from '../../src/faces/web/report/charts-thread.ts';

let thread: ChartsThread | undefined;
let last: Promise<unknown> = Promise.resolve();

/** In the tests' place of the real one: the pages of all tests share one thread, which loads its libraries once. */
export function beginCharts(): ChartsThread {
  thread ??= begin();
  const shared = thread;
  return {
    svg(spec) {
      const drawn = last.then(() => shared.svg(spec));
      last = drawn.catch(() => {
        thread = undefined;
      });
      return drawn;
    },
    end: async () => {},
  };
}
