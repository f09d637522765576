import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { makeHome, until } from '../support/cli.ts';
import { findProgram } from '../support/server-process.ts';
import { serving } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const analyze = findProgram('systemd-analyze');
const notify = findProgram('systemd-notify');
const python = findProgram('python3');
const deployed = fileURLToPath(new URL('../../config/deploy/', import.meta.url));

/** Prints what arrives at a datagram socket, which Node cannot open. */
const listener = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    text, fds, _, _ = socket.recv_fds(s, 4096, 8)
    # systemd-notify waits until its message is handled, which closing the descriptor says.
    for fd in fds: os.close(fd)
    print(text.decode().replace('\\n', ' '), flush=True)
`;

it.skipIf(!notify || !python)(
  `serve tells systemd when it is ready, lives, reloads and stops${notify && python ? '' : ' (skipped: no systemd-notify or no python3)'}`,
  async () => {
    const socket = join(temporaryFolder(), 'notify');
    const listening = spawn(python ?? '', ['-c', listener, socket]);
    onTestFinished(() => void listening.kill('SIGKILL'));
    let said = '';
    listening.stdout.on('data', (data) => (said += String(data)));
    const saidBy = async (word: RegExp): Promise<string> =>
      until(
        10_000,
        async () => said,
        (text) => word.test(text),
      );
    await saidBy(/bound/);
    const home = await makeHome();
    const { daemon, url } = await serving(home, { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '600000' });
    await saidBy(/READY=1 STATUS=serving[\s\S]*WATCHDOG=1[\s\S]*WATCHDOG=1/);
    daemon.signal('SIGHUP');
    await saidBy(/RELOADING=1[\s\S]*READY=1/);
    expect((await fetch(`${url}/webhooks/test`, { method: 'POST', body: '{}' })).status).toBe(401);
    daemon.signal('SIGTERM');
    expect((await daemon.done).code).toBe(0);
    expect(said).toMatch(/STOPPING=1/);
  },
);

it.skipIf(!analyze)(
  `the systemd unit is exposed less than 2.0${analyze ? '' : ' (skipped: no systemd-analyze)'}`,
  () => {
    const copy = temporaryFolder();
    for (const unit of ['counterfoil.service', 'counterfoil-failed@.service'])
      copyFileSync(join(deployed, unit), join(copy, unit));
    const unit = join(copy, 'counterfoil.service');
    const run = (...args: string[]) => spawnSync(analyze ?? '', args, { encoding: 'utf8' });
    const { stdout } = run('security', '--offline=yes', unit);
    const exposure = Number(/exposure level for counterfoil.service: ([\d.]+)/.exec(stdout)?.[1]);
    expect(exposure).toBeGreaterThan(0);
    expect(exposure).toBeLessThan(2);
    expect(readFileSync(unit, 'utf8')).toContain('OnFailure=counterfoil-failed@');
    expect(run('verify', unit).stderr).not.toMatch(/counterfoil\S*:\d+: /);
  },
);
