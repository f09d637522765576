import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { blocksOf } from '../../config/docs/blocks.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { findProgram } from '../support/server-process.ts';

/**
 * `npm run prove:going-live [-- BASE]`: runs the commands of docs/going-live.md as they stand, on an empty Debian that
 * systemd boots in a container. BASE: a folder that debootstrap filled before. Real: systemd, its units, accounts,
 * credentials and sandboxing, nginx, Prometheus, the package. Not real: the payments service is the sandbox, the keys come
 * from a pipe, the name is localhost, and the container shares the network and the kernel of this machine.
 */

const page = fileURLToPath(new URL('../../docs/going-live.md', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const mark = 'prove:going-live runs it';
const packages = 'ca-certificates,systemd,systemd-sysv,dbus';
const commandLimitMs = 600_000;

/** What a command must print, besides ending well: an exit code alone would pass a proxy without a receiver behind it. */
const wanted: readonly [command: RegExp, output: RegExp][] = [
  [/^counterfoil-run doctor/, /\b1 of \d+ failed: receiver/],
  [/^counterfoil-run --unit .* doctor/, /serve listens on/],
  [/--request POST/, /^401$/m],
  [/^counterfoil-run submit/, /\b12 payouts\b/],
  [/^counterfoil-run verify/, /The ledger is proven/],
  [/^counterfoil-run status/, /Needs a person: nothing/],
];

/** Why it cannot run here; null where it can. */
function missing(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root';
  const absent = ['debootstrap', 'systemd-nspawn', 'nsenter'].filter((name) => !findProgram(name));
  return absent.length > 0 ? `no ${absent.join(', ')}: apt-get install debootstrap systemd-container` : null;
}

/** The process that is PID 1 of the container. */
async function bootedIn(nspawn: number): Promise<string> {
  for (let tries = 0; tries < 60; tries++) {
    const children = readFileSync(`/proc/${nspawn}/task/${nspawn}/children`, 'utf8').trim().split(' ');
    const leader = children.find((pid) => pid !== '');
    const state = leader && spawnSync('nsenter', ['-t', leader, '-a', 'systemctl', 'is-system-running']);
    if (leader && state && /^(running|degraded)/.test(String(state.stdout))) return leader;
    await sleep(1000);
  }
  throw new Error('systemd did not boot in the container');
}

async function prove(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-golive-'));
  const machine = join(folder, 'machine');
  const [base = ''] = process.argv.slice(2);
  if (base !== '') execFileSync('cp', ['-a', base, machine]);
  else
    execFileSync('debootstrap', ['--variant=minbase', `--include=${packages}`, 'bookworm', machine], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  execFileSync(process.execPath, [join(root, 'config/pack/run.ts'), folder]);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  copyFileSync(join(folder, tarball), join(machine, 'root', tarball));
  for (const name of ['/etc/resolv.conf', `${process.env.HOME}/.npmrc`])
    if (existsSync(name))
      copyFileSync(name, join(machine, name === '/etc/resolv.conf' ? name : 'root/.npmrc'));
  // A network that replaces certificates has its own authority; npm in the container must know it as npm here does.
  const authority = process.env.NODE_EXTRA_CA_CERTS ?? '';
  if (authority !== '') copyFileSync(authority, join(machine, 'root/authority.pem'));
  const trust = authority === '' ? [] : ['NODE_EXTRA_CA_CERTS=/root/authority.pem'];
  const webhookKey = 'webhook-key-of-the-proof';
  const sandbox = await createSandbox({ settleMs: 100 });
  const boot = ['--quiet', '--register=no', '--keep-unit', '-D', machine, '--boot'];
  const nspawn = spawn('systemd-nspawn', boot, { stdio: 'ignore' });
  let passed = 0;
  try {
    const leader = await bootedIn(nspawn.pid ?? 0);
    const { secretKey } = sandbox.keys.test;
    const values = `SERVICE=${sandbox.url}\nNAME=localhost\n`;
    const pasted = (command: string): string =>
      command.includes('secret_key)') ? secretKey : command.includes('webhook_key)') ? webhookKey : '';
    const steps = blocksOf(page, readFileSync(page, 'utf8'))
      .filter(({ run }) => run.kind === 'not_run' && run.reason === mark)
      .flatMap((block) => block.steps.map(({ command }) => ({ command, line: block.line })))
      .filter(({ command }) => !/^(SERVICE|NAME)=/.test(command));
    for (const { command, line } of steps) {
      const began = performance.now();
      const shell = [
        '-t',
        leader,
        '-a',
        'env',
        '-i',
        ...trust,
        'HOME=/root',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'bash',
        '-c',
        `cd /root\n${values}${command}`,
      ];
      const done = spawnSync('nsenter', shell, {
        input: pasted(command),
        encoding: 'utf8',
        timeout: commandLimitMs,
      });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const printed = `${done.stdout}${done.stderr}`.trim();
      const lacking = wanted.find(([of, output]) => of.test(command) && !output.test(printed))?.[1];
      const isFine = done.status === 0 && !lacking;
      process.stdout.write(`${isFine ? 'ok  ' : 'FAIL'} ${seconds.padStart(6)} s  ${command}\n`);
      if (process.env.VERBOSE || !isFine)
        process.stdout.write(`    ${printed.split('\n').slice(-30).join('\n    ')}\n`);
      if (!isFine) {
        const why = lacking ? `it does not print ${lacking}` : `exit ${done.status}`;
        process.stdout.write(`docs/going-live.md, block at line ${line}: ${why}\n`);
        return 1;
      }
      passed += 1;
    }
    process.stdout.write(`${passed} passed, 0 failed\n`);
    return 0;
  } finally {
    nspawn.kill('SIGTERM');
    await Promise.race([new Promise((resolve) => nspawn.once('exit', resolve)), sleep(20_000)]);
    nspawn.kill('SIGKILL');
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const why = missing();
if (why !== null) process.stdout.write(`not run: ${why}\n0 passed, 0 failed, 1 skipped\n`);
else process.exitCode = await prove();
