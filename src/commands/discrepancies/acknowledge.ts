import type { Result } from '../result.ts';
import type { Context } from '../world.ts';
import { speak } from './discrepancy-words.ts';

/** `ack ID…`: somebody knows and sees to it. It stays listed, and opens again when something else is found. */
export function acknowledge(
  context: Context,
  ids: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  return speak(context, 'acknowledge', ids, options);
}
