import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const script = fileURLToPath(new URL('../../config/deploy/counterfoil-run', import.meta.url));
const shipped = readFileSync(new URL('../../config/deploy/counterfoil.service', import.meta.url), 'utf8');

/** Prints the unit, as `systemctl cat` does. */
const systemctl = `#!/bin/sh
[ "$1" = cat ] || exit 9
[ "$2" = "$STUB_UNIT_NAME" ] || { echo "No files found for $2." >&2; exit 1; }
cat "$STUB_UNIT"
`;

/** Notes its options, then runs the command as systemd does: $$ is $, and the credentials lie in a folder. */
const systemdRun = `#!/bin/sh
while [ "$1" != -- ]; do printf '%s\\n' "$1" >> "$STUB_OPTIONS"; shift; done
shift
n=$#
while [ "$n" -gt 0 ]; do
  word=$(printf '%s.' "$1" | sed 's/\\$\\$/$/g'); set -- "$@" "\${word%.}"; shift; n=$((n - 1))
done
CREDENTIALS_DIRECTORY=/run/credentials/run-1.service exec "$@"
`;

/** Stands for node and bin.js: prints its words and what counterfoil would read of the environment. */
const program = `#!/bin/sh
for word in "$@"; do printf 'word %s\\n' "$word"; done
env | grep -E '^(COUNTERFOIL|TOLD)_' | sort
exit 3
`;

function runAs(unitText: string, args: string[], unitName = 'counterfoil.service') {
  const dir = temporaryFolder();
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const put = (name: string, text: string): string => {
    const path = join(bin, name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  };
  put('systemctl', systemctl);
  put('systemd-run', systemdRun);
  const node = put('node', program);
  const unit = join(dir, 'unit');
  writeFileSync(unit, unitText.replaceAll('/usr/bin/node', node));
  const options = join(dir, 'options');
  writeFileSync(options, '');
  const { status, stdout, stderr } = spawnSync('/bin/sh', [script, ...args], {
    encoding: 'utf8',
    timeout: 20_000,
    env: {
      PATH: `${bin}:/usr/bin:/bin`,
      STUB_UNIT: unit,
      STUB_UNIT_NAME: unitName,
      STUB_OPTIONS: options,
    },
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { status, lines, err: stderr, options: readFileSync(options, 'utf8').trim().split('\n') };
}

it('runs a command with the account, folder, credentials and environment of the shipped unit', () => {
  const done = runAs(shipped, ['settle', 'ACME-1', '--note', "it's $5\nand 'more' %d", '*']);
  expect([done.err, done.status]).toEqual(['', 3]);
  expect(done.lines).toEqual([
    'word /opt/counterfoil/src/bin.js',
    'word settle',
    'word ACME-1',
    'word --note',
    "word it's $5",
    "and 'more' %d",
    'word *',
    'COUNTERFOIL_TEST_SECRET_KEY_FILE=/run/credentials/run-1.service/secret_key',
    'COUNTERFOIL_TEST_WEBHOOK_KEY_FILE=/run/credentials/run-1.service/webhook_key',
  ]);
  expect(done.options).toEqual(
    expect.arrayContaining([
      '--pipe',
      '--wait',
      '--property=User=counterfoil',
      '--property=WorkingDirectory=/srv/payroll',
      '--property=UMask=0077',
      '--property=LoadCredential=secret_key:/etc/counterfoil/secret_key',
      '--property=LoadCredential=webhook_key:/etc/counterfoil/webhook_key',
    ]),
  );
  // The unit's own bounds would keep a backup from its disk; its notifications belong to serve.
  expect(done.options.join('\n')).not.toMatch(/Protect|Notify|Watchdog|Restart/);
});

it('follows drop-ins, resets, continued lines, quotes and the instance of a template', () => {
  const unit = `# /etc/systemd/system/counterfoil@.service
[Unit]
Environment=TOLD_WRONG=1
[Service]
User=%i
WorkingDirectory=/srv/%i
ExecStart=-/usr/bin/node \\
  /opt/counterfoil/src/bin.js serve
LoadCredential=old:/etc/old
Environment="TOLD_NAME=Acme Ltd" TOLD_UNIT=%n
EnvironmentFile=-/etc/counterfoil/%i.env
# /etc/systemd/system/counterfoil@.service.d/keys.conf
[Service]
LoadCredential=
LoadCredentialEncrypted=secret_key:/etc/counterfoil/%i.cred
`;
  const done = runAs(unit, ['--unit', 'counterfoil@acme', 'status'], 'counterfoil@acme.service');
  expect([done.err, done.status]).toEqual(['', 3]);
  expect(done.lines).toEqual([
    'word /opt/counterfoil/src/bin.js',
    'word status',
    'TOLD_NAME=Acme Ltd',
    'TOLD_UNIT=counterfoil@acme.service',
  ]);
  expect(done.options.filter((option) => option.startsWith('--property=')).toSorted()).toEqual([
    '--property=EnvironmentFile=-/etc/counterfoil/acme.env',
    '--property=LoadCredentialEncrypted=secret_key:/etc/counterfoil/acme.cred',
    '--property=User=acme',
    '--property=WorkingDirectory=/srv/acme',
  ]);
});

it('stops with 2 without a command, without the unit, and for a unit that does not serve', () => {
  expect(runAs(shipped, [])).toMatchObject({ status: 2, err: expect.stringMatching(/name a command/) });
  expect(runAs(shipped, ['status'], 'payroll.service')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/No files found for counterfoil.service/),
  });
  expect(runAs('[Service]\nUser=a\n', ['status'])).toMatchObject({
    status: 2,
    err: expect.stringMatching(/--unit/),
  });
});

it('is a program', () => {
  expect(statSync(script).mode & 0o111).toBe(0o111);
});
