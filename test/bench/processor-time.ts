import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's ticks a second, as every Linux that Node runs on has them. */
const ticksPerSecond = 100;

/** Processor time of this process's children and theirs, in ms: what other programs do meanwhile is not in it. */
export function familyMs(): number {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(lineOf),
  );
  const isOurs = (pid: number): boolean => {
    const parent = all.get(pid)?.parent;
    return parent === process.pid || (parent !== undefined && parent > 1 && isOurs(parent));
  };
  let ticks = 0;
  for (const [pid, own] of all) if (isOurs(pid)) ticks += own.ticks;
  return (ticks * 1000) / ticksPerSecond;
}

function lineOf(pid: string): [number, { parent: number; ticks: number }][] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // With the time of children that ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [[Number(pid), { parent: Number(fields[1]), ticks }]];
  } catch {
    // It ended in between.
    return [];
  }
}
