import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const pack = fileURLToPath(new URL('../../config/pack/run.ts', import.meta.url));
const packages = 'ca-certificates,systemd,systemd-sysv,dbus';
const commandLimitMs = 600_000;

/** How a command ended: its exit code (null: killed), and what it printed, its errors last. */
export type Done = { status: number | null; printed: string };

/** A Debian that systemd boots in a container. */
export type Machine = {
  /** Runs a command as root in /root, with this on its standard input. */
  run(command: string, input?: string): Promise<Done>;
  read(file: string): string;
  /** Shuts it down and removes its folder. */
  stop(): Promise<void>;
};

/** Makes the machine, with our package in /root. `from`: a folder that debootstrap filled before, or the name of a Debian. */
export async function bootMachine(from: string): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-golive-'));
  const tree = join(folder, 'machine');
  try {
    if (existsSync(from) && statSync(from).isDirectory()) execFileSync('cp', ['-a', from, tree]);
    else
      execFileSync('debootstrap', ['--variant=minbase', `--include=${packages}`, from, tree], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    execFileSync(process.execPath, [pack, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
    copyFileSync(join(folder, tarball), join(tree, 'root', tarball));
    const registry = `${process.env.HOME}/.npmrc`;
    if (existsSync(registry)) copyFileSync(registry, join(tree, 'root/.npmrc'));
    // A network that replaces certificates has its own authority; npm in the container must know it as npm here does.
    const authority = process.env.NODE_EXTRA_CA_CERTS ?? '';
    if (authority !== '') copyFileSync(authority, join(tree, 'root/authority.pem'));
    const trust = authority === '' ? [] : ['NODE_EXTRA_CA_CERTS=/root/authority.pem'];
    return await boot(folder, tree, trust);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function boot(folder: string, tree: string, trust: string[]): Promise<Machine> {
  // debootstrap gives it the name of this machine and no hosts; an installer would give it both.
  writeFileSync(join(tree, 'etc/hostname'), 'localhost\n');
  writeFileSync(join(tree, 'etc/hosts'), '127.0.0.1 localhost\n');
  const how = ['--quiet', '--register=no', '--keep-unit', '-D', tree, '--boot'];
  const nspawn = spawn('systemd-nspawn', [...how, '--resolv-conf=copy-host'], { stdio: 'ignore' });
  const ended = new Promise((resolve) => nspawn.once('exit', resolve));
  const stop = async (): Promise<void> => {
    nspawn.kill('SIGTERM');
    await Promise.race([ended, sleep(60_000)]);
    nspawn.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const leader = await findLeader(nspawn.pid ?? 0);
  if (leader === undefined) {
    await stop();
    throw new Error('systemd did not boot in the container');
  }
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const inside = [
    '-t',
    leader,
    '-a',
    'env',
    '-i',
    ...trust,
    'HOME=/root',
    'LANG=C.UTF-8',
    path,
    'bash',
    '-c',
  ];
  return {
    run: (command, input = '') =>
      new Promise((resolve) => {
        const options = { encoding: 'utf8', timeout: commandLimitMs, maxBuffer: 1e8 } as const;
        const child = execFile('nsenter', [...inside, `cd /root\n${command}`], options, (_, stdout, stderr) =>
          resolve({ status: child.exitCode, printed: `${stdout}${stderr}`.trim() }),
        );
        child.stdin?.on('error', () => {});
        child.stdin?.end(input);
      }),
    read: (file) => readFileSync(join(tree, file), 'utf8'),
    stop,
  };
}

/** The process that is PID 1 of the container; undefined when it has not booted within a minute. */
async function findLeader(nspawn: number): Promise<string | undefined> {
  for (let tries = 0; tries < 60; tries++) {
    await sleep(1000);
    const children = `/proc/${nspawn}/task/${nspawn}/children`;
    if (!existsSync(children)) return undefined;
    const [leader] = readFileSync(children, 'utf8').trim().split(' ');
    const state = leader && spawnSync('nsenter', ['-t', leader, '-a', 'systemctl', 'is-system-running']);
    if (leader && state && /^(running|degraded)/.test(String(state.stdout))) return leader;
  }
  return undefined;
}
