export type Writer = { pid: number; command: string };

/** Why an inbox file is not taken yet. `leftMs`: the longest remaining wait if nothing changes. */
export type WhyWaiting =
  | { kind: 'settling' }
  | { kind: 'no_line_end'; leftMs: number }
  | { kind: 'open'; writers: Writer[] };

export type WaitingFile = { name: string; why: WhyWaiting };

export function waitingWhy(why: WhyWaiting): string {
  switch (why.kind) {
    case 'settling':
      return 'it may still be being written';
    case 'no_line_end':
      return 'its last line has no end, as after an upload that stopped: it is taken when it stays unchanged for a minute more';
    case 'open':
      return `it is open for writing by ${writersText(why.writers)}`;
  }
}

export function writersText(writers: readonly Writer[]): string {
  const named = writers
    .slice(0, 3)
    .map(({ pid, command }) => `process ${pid}${command === '' ? '' : ` (${command})`}`);
  return writers.length > 3 ? `${named.join(', ')} and others` : named.join(', ');
}

/** Why an unsent batch waits for the check of its file (P34). */
export type FileWait =
  | { kind: 'open'; path: string; writers: Writer[] }
  | { kind: 'not_archived'; path: string }
  | { kind: 'elsewhere' };
