import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './pages.ts';

/** A terminal of a reader: commands run one after the other, and `cd` lasts. */
export type Shell = {
  /** Runs a command to its end; both streams are one text, as on a terminal. */
  run(command: string): { code: number | null; lines: string[] };
  /** Starts a command in a second terminal; resolves with what it prints until it is quiet for a moment. */
  background(command: string): Promise<string[]>;
  end(): void;
};

const quietMs = 1500;

/** Opens a terminal in a new folder: an empty one, or a copy of this checkout as git gives it. */
export function openShell({ checkout }: { checkout: boolean }): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-docs-'));
  const started: ChildProcess[] = [];
  const home = join(folder, 'work');
  mkdirSync(home);
  if (checkout) copyCheckout(home);
  const env = environment(folder);
  mkdirSync(join(folder, 'tmp'));
  const neutral = withoutThisMachine(
    home,
    checkout ? '/home/ada/counterfoil' : '/home/ada',
    join(folder, 'tmp'),
  );
  const place = join(folder, 'cwd');
  writeFileSync(place, home);
  return {
    run(command) {
      const script = `exec 2>&1; cd "$(cat ${place})"; ${command}\ncode=$?; pwd > ${place}; exit $code`;
      const done = spawnSync('bash', ['-c', script], { env, encoding: 'utf8', maxBuffer: 1 << 26 });
      return { code: done.status, lines: linesOf(neutral(done.stdout)) };
    },
    async background(command) {
      const script = `exec 2>&1; cd "$(cat ${place})"; ${command}`;
      const child = spawn('bash', ['-c', script], {
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      started.push(child);
      let printed = '';
      let changedAt = Date.now();
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        changedAt = Date.now();
      });
      while (child.exitCode === null && (printed === '' || Date.now() - changedAt < quietMs))
        await new Promise((resolve) => setTimeout(resolve, 100));
      return linesOf(neutral(printed));
    },
    end() {
      // Each leads a group of its own, with the processes that it started.
      for (const { pid, exitCode } of started) if (pid !== undefined && exitCode === null) process.kill(-pid);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The pages show a reader's home and name instead of this machine's. */
function withoutThisMachine(home: string, shown: string, tmp: string): (text: string) => string {
  const by = new RegExp(`\\bby ${userInfo().username}\\b`, 'g');
  return (text) => text.replaceAll(home, shown).replaceAll(tmp, '/tmp').replace(by, 'by ada');
}

function copyCheckout(target: string): void {
  const copy = `git ls-files -z --cached --others --exclude-standard | tar cf - --null -T - | tar xf - -C "$1"`;
  const done = spawnSync('bash', ['-c', copy, 'copy', target], { cwd: root, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`cannot copy the checkout: ${done.stderr}`);
}

/** What a newcomer has: no settings of Counterfoil, and a `counterfoil` that runs this checkout as if it were installed. */
function environment(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(join(root, 'src/bin.js'), join(bin, 'counterfoil'));
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(COUNTERFOIL_|NODE_(?!EXTRA_CA)|VITEST|VITE_|npm_)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    PATH: [bin, ...path].join(delimiter),
    npm_config_prefix: join(folder, 'installed'),
    npm_config_update_notifier: 'false',
    NO_COLOR: '1',
    TMPDIR: join(folder, 'tmp'),
  };
}

function linesOf(text: string): string[] {
  const lines = text.trimEnd().split('\n');
  return lines.length === 1 && lines[0] === '' ? [] : lines;
}
