import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeHome } from '../../../support/cli.ts';
import { inProcess } from '../../../support/in-process.ts';

const secret = 'sk_test_0123456789abcdef';

it('shows every value with where it came from: the file and its line, .env, a variable or the default', async () => {
  const home = inProcess(await makeHome());
  home.put(
    'config/counterfoil.yaml',
    'mode: test\nservice:\n  timeout_ms: 4000\n  codes: { "25": unknown }\n',
  );
  home.put('.env', 'COUNTERFOIL_RECEIVER_HOST=127.0.0.2\n');
  chmodSync(`${home.dir}/.env`, 0o600);
  const { settings } = await home.json(['config', 'show'], 0);
  const of = (key: string) => settings.find((one: { key: string }) => one.key === key);
  expect(of('mode')).toEqual({ key: 'mode', value: 'test', origin: 'file:1' });
  expect(of('service.timeout_ms')).toEqual({ key: 'service.timeout_ms', value: 4000, origin: 'file:3' });
  expect(of('service.codes')).toMatchObject({ value: { '25': 'unknown' }, origin: 'file:4' });
  expect(of('receiver.host')).toMatchObject({ value: '127.0.0.2', origin: '.env COUNTERFOIL_RECEIVER_HOST' });
  expect(of('service.base_url')).toMatchObject({ origin: 'environment COUNTERFOIL_SERVICE_BASE_URL' });
  expect(of('submission.canary')).toMatchObject({ value: 0, origin: 'default' });
  const { out } = await home.run(['config', 'show']);
  expect(out).toMatch(/^service:\n {2}base_url: http:.*\n/m);
  expect(out).toMatch(/^ {2}timeout_ms: 4000 +# file:3$/m);
  expect(out).toMatch(/^ {2}codes: \{ "25": unknown \} +# file:4$/m);
});

it('says of a secret whether it is set, from where and how many values, and never shows any part of one', async () => {
  const home = inProcess(await makeHome());
  home.put('keys/webhook', 'hook-key-of-some-length\n');
  home.put('.env', 'COUNTERFOIL_ADMIN_TOKENS=ada:0123456789abcdef\n');
  const env = {
    COUNTERFOIL_TEST_SECRET_KEY: `${secret},${secret}2`,
    COUNTERFOIL_TEST_WEBHOOK_KEY_FILE: 'keys/webhook',
  };
  const { out, err } = await home.run(['config', 'show'], env);
  expect(out).toMatch(/COUNTERFOIL_TEST_SECRET_KEY +set \(env, 2 values\)/);
  expect(out).toMatch(/WEBHOOK_KEY +set \(file named by COUNTERFOIL_TEST_WEBHOOK_KEY_FILE, 1 value\)/);
  expect(out).toMatch(/COUNTERFOIL_ADMIN_TOKENS +set \(\.env, 1 value\)/);
  expect(out).toMatch(/COUNTERFOIL_LIVE_SECRET_KEY +not set/);
  for (const value of [secret.slice(0, 12), 'hook-key', '0123456789'])
    expect(out + err, value).not.toContain(value);
});

it('shows no secret that stands in another setting, nor the password of an address', async () => {
  const home = inProcess(await makeHome());
  const env = {
    COUNTERFOIL_TEST_SECRET_KEY: secret,
    COUNTERFOIL_INTAKE_SENDER_NAME: `Acme ${secret}`,
    // Too short to be known in a text, but nothing that stands there is shown.
    COUNTERFOIL_QUEUE_URL: 'redis://ada:hunter2@cache:6379/3',
  };
  const { settings } = await home.json(['config', 'show'], 0, env);
  expect(JSON.stringify(settings)).not.toMatch(new RegExp(`${secret}|hunter2`));
  expect(settings).toContainEqual(
    expect.objectContaining({ key: 'intake.sender_name', value: 'Acme [hidden]' }),
  );
});

it('warns of a variable that nothing reads, and refuses an unknown key by its nearest name', async () => {
  const home = inProcess(await makeHome());
  const { err } = await home.run(['config', 'show'], { COUNTERFOIL_TEST_SECRETKEY: 'x' });
  expect(err).toContain('COUNTERFOIL_TEST_SECRETKEY: nothing reads this variable');
  const wrong = await home.run(['config', 'show'], { COUNTERFOIL_SERVICE_TIMEOUT: '1' });
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('did you mean COUNTERFOIL_SERVICE_TIMEOUT_MS?');
  expect((await home.run(['config', 'list'])).code).toBe(2);
});
