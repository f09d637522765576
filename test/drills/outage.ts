import type { DrillHome } from './home.ts';

/** What an operator must see of an outage; null: that signal must not come. */
export type Outage = {
  name: string;
  open(settings: Record<string, string>): Promise<Scene>;
  /** What `/readyz` must say, as `check: problem`; `none`: nothing answers. */
  readyz: RegExp | 'none' | null;
  metrics: ((value: (name: string) => number) => boolean) | 'none';
  dashboard: RegExp | 'none';
  alert: RegExp | null;
  /** `counted`: a figure that stays. `unsaid`: no message says that it is over. Left out: all signals end. */
  ends?: 'counted' | 'unsaid';
};

/** A home, how to hurt it, and how to mend it. */
export type Scene = {
  home: DrillHome;
  begin(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
};
