/** A process that has a file open for writing. */
export type Writer = { pid: number; command: string };

/** Why a file of the inbox is not taken yet. `leftMs`: for how long at most, if nothing changes. */
export type WhyWaiting =
  | { kind: 'settling' }
  | { kind: 'no_line_end'; leftMs: number }
  | { kind: 'open'; writers: Writer[] };

export type Waiting = { name: string; why: WhyWaiting };

/** Why a file waits, for people. */
export function waitingWhy(why: WhyWaiting): string {
  switch (why.kind) {
    case 'settling':
      return 'it may still be being written';
    case 'no_line_end':
      return 'it has no line end at its end, as an upload that stopped: it is taken when it stays unchanged for a minute more';
    case 'open':
      return `it is open for writing by ${writersText(why.writers)}`;
  }
}

/** The first of them, by number and name. */
export function writersText(writers: readonly Writer[]): string {
  const shown = writers
    .slice(0, 3)
    .map(({ pid, command }) => `process ${pid}${command === '' ? '' : ` (${command})`}`);
  return writers.length > 3 ? `${shown.join(', ')} and others` : shown.join(', ');
}

/** Why a batch of which nothing was sent waits for its file to be looked at (P34). */
export type FileWait =
  | { kind: 'open'; path: string; writers: Writer[] }
  | { kind: 'not_archived'; path: string }
  | { kind: 'elsewhere' };
