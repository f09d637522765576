import type { LocalApp } from './local.ts';
import type { AppOptions, LookingApp } from './looking.ts';
import type { WholeApp } from './whole.ts';

export type { AppOptions } from './looking.ts';

/** What an app can do; each level can do all that the one above it can. */
type Levels = {
  /** Reads the ledger. */
  looking: LookingApp;
  /** Also takes in, decides and reports. Needs no key. */
  local: LocalApp;
  /** Also asks the service and sends. */
  whole: WholeApp;
};
export type Level = keyof Levels;
export type App<L extends Level = 'whole'> = Levels[L];

const openers: { [L in Level]: (options: AppOptions) => Promise<App<L>> } = {
  looking: async (options) => (await import('./looking.ts')).openLooking(options),
  local: async (options) => (await import('./local.ts')).openLocal(options),
  whole: async (options) => (await import('./whole.ts')).openWhole(options),
};

/** Opens the app at one level, and loads only the code of that level. Close it when done. */
export function openApp<L extends Level>(level: L, options: AppOptions): Promise<App<L>> {
  return openers[level](options);
}
