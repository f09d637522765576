import { Stop } from '../context/result.ts';
import type { Handler } from '../context/world.ts';
import type { CommandEntry } from '../entries/entry.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { planOf } from './plan.ts';
import { zshScript } from './zsh.ts';

const scripts = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

/** `completion bash|zsh|fish`: prints a script that the shell reads. It knows these commands. */
export function completionOf(entries: readonly CommandEntry[]): Handler {
  return async (_context, [shell = '']) => {
    const script = scripts.get(shell);
    if (!script) throw new Stop(`completion: expected bash, zsh or fish, got "${shell}"`);
    const lines = script(planOf(entries));
    return {
      code: 0,
      lines,
      json: { shape: 'completion', fields: { shell, script: `${lines.join('\n')}\n` } },
    };
  };
}
