import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export type User = { uid?: number; gid?: number };

/** A server of somebody else's as a child process; its folder goes when it stops. */
export type ServerProcess = {
  pid: number;
  /** What it printed so far, for the message of a server that did not start. */
  said(): string;
  signal(name: NodeJS.Signals): void;
  ended: Promise<void>;
  /** Whether it still runs. */
  alive(): boolean;
};

/** Where a program lies: on PATH, else in one of these folders; undefined when nowhere. */
export function findProgram(name: string, elsewhere: string[] = []): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...elsewhere];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** The `bin` folders of the PostgreSQL versions that Debian's packages install, the newest first. */
export function debianPostgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  try {
    const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

/** Who runs a server that refuses root: the named user when we are root, else ourselves. Undefined: no such user. */
export function ordinaryUser(name: string): User | undefined {
  if (process.getuid?.() !== 0) return {};
  try {
    const id = (flag: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/** An empty temporary folder that belongs to the user. */
export function folderFor(user: User, prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A port that was free a moment ago, and below those that the system gives to whoever asks for any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.on('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Starts a server that must not outlive this process, whatever ends it in an orderly way. */
export function startServer(program: string, args: string[], user: User): ServerProcess {
  const child: ChildProcess = spawn(program, args, { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      said = (said + String(chunk)).slice(-4000);
    });
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill);
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('exit', () => resolve());
  }).then(() => void process.off('exit', kill));
  return {
    pid: child.pid ?? 0,
    said: () => said,
    signal: (name) => void child.kill(name),
    ended,
    alive: () => child.exitCode === null && child.signalCode === null && child.pid !== undefined,
  };
}

/** Tries until it answers; throws with what the server said when it ended or took longer than half a minute. */
export async function untilAnswers(server: ServerProcess, ask: () => Promise<unknown>): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!server.alive() || Date.now() > giveUpAt)
        throw new Error(`a test server did not start: ${server.said()}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
