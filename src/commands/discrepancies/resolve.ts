import { type Result, Stop } from '../result.ts';
import type { Context } from '../world.ts';
import { speak } from './discrepancy-words.ts';

/** `resolve ID…`: a person's word that it is dealt with. It opens again when something else is found. */
export async function resolve(
  context: Context,
  ids: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  if (typeof options.note !== 'string' || options.note.trim() === '')
    throw new Stop(
      2,
      '--note: say what was done about it, for example --note "returned by the bank, statement of 3 May, line 12"',
    );
  return speak(context, 'resolve', ids, options);
}
