import { AsyncLocalStorage } from 'node:async_hooks';
import { createLogger as create } from '../../src/core/runtime/logger.ts';

/** Takes each line that the commands begun in its scope log. */
export const logsOf = new AsyncLocalStorage<(line: string) => void>();

/** In the tests' place of the real one: what a command logs in the process of a test goes where its output goes. */
export const createLogger: typeof create = (options) => {
  const write = logsOf.getStore();
  return create(write === undefined ? options : { ...options, to: { write } });
};
