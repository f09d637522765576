import { subscribe } from 'node:diagnostics_channel';

/** Counts the requests that this process makes with undici from now on. */
export function countRequests(): () => number {
  let count = 0;
  subscribe('undici:request:create', () => {
    count += 1;
  });
  return () => count;
}
