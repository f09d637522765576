import { type Profiler, Session } from 'node:inspector';

export type Coverage = {
  /** The code that ran since the last call. */
  take(): Taken;
  /** Remembers this code; returns true if some of it had never run before. */
  keep(taken: Taken): boolean;
  /** Whether some of this code was never kept. */
  isNew(taken: Taken): boolean;
  /** How many blocks of code ran, of those that V8 has told of. */
  blocks(): { reached: number; known: number };
};

/** For each script, 1 for each character that ran. */
type Taken = Map<string, Uint8Array>;

/** Begins V8's precise block coverage of this process, for scripts whose address `counts`. */
export function startCoverage(counts: (url: string) => boolean): Coverage {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const ran: Taken = new Map();
  const starts = new Map<string, Set<number>>();
  const coverage: Coverage = {
    take() {
      const taken: Taken = new Map();
      session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
        for (const { url, functions } of result) {
          if (!counts(url)) continue;
          const ranges = functions.flatMap((one) => one.ranges);
          taken.set(url, painted(ranges));
          const known = starts.get(url) ?? new Set();
          starts.set(url, known);
          for (const { startOffset } of ranges) known.add(startOffset);
        }
      });
      return taken;
    },
    isNew: (taken) => [...taken].some(([url, code]) => isBeyond(code, ran.get(url) ?? none)),
    keep(taken) {
      const isNew = coverage.isNew(taken);
      for (const [url, code] of taken) {
        const before = ran.get(url) ?? none;
        const [longer, other] = before.length > code.length ? [before, code] : [code, before];
        for (let at = 0; at < other.length; at++) if (other[at] === 1) longer[at] = 1;
        ran.set(url, longer);
      }
      return isNew;
    },
    blocks() {
      const all = [...starts].flatMap(([url, known]) => [...known].map((at) => ran.get(url)?.[at] ?? 0));
      return { reached: all.filter((one) => one === 1).length, known: all.length };
    },
  };
  return coverage;
}

const none = new Uint8Array(0);

function isBeyond(code: Uint8Array, before: Uint8Array): boolean {
  for (let at = 0; at < code.length; at++) if (code[at] === 1 && before[at] !== 1) return true;
  return false;
}

/** Paints outer ranges first: the innermost range of a character says whether it ran. */
function painted(ranges: Profiler.CoverageRange[]): Uint8Array {
  const code = new Uint8Array(ranges.reduce((end, { endOffset }) => Math.max(end, endOffset), 0));
  for (const { startOffset, endOffset, count } of ranges.toSorted(outerFirst))
    code.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return code;
}

function outerFirst(a: Profiler.CoverageRange, b: Profiler.CoverageRange): number {
  return a.startOffset - b.startOffset || b.endOffset - a.endOffset;
}
