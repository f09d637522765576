import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { scenarioNames } from '../../../../src/sandbox/scenarios.ts';
import { flat, start } from '../../../support/cli.ts';
import { begin } from '../../../support/in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

it('sandbox prints URL and keys as its first line of JSON, answers, and stops on SIGTERM', async () => {
  const running = start(['sandbox', '--json', '--port', '0'], { cwd: temporaryFolder() });
  const facts = JSON.parse(await running.line(/./));
  expect(facts).toMatchObject({ schema: 1, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  const headers = { authorization: `Bearer ${facts.secret_key}` };
  const listed = await fetch(`${facts.url}/api/v1/fetch_all_transfers`, { headers });
  expect(await listed.json()).toMatchObject({ success: true, status: '00' });
  running.signal('SIGTERM');
  const done = await running.done;
  expect(done.code, done.err).toBe(0);
  expect(done.out.trim().split('\n')).toHaveLength(1);
});

it('sandbox uses the configured TEST keys, and refuses an unknown scenario with 2 and the known names', async () => {
  const cwd = temporaryFolder();
  expect((await begin(['init'], { cwd }).done).code).toBe(0);
  const env = {
    COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_mine',
    COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9',
  };
  const running = begin(['sandbox', '--json', '--port', '0'], { cwd, env });
  expect(JSON.parse(await running.line(/./))).toMatchObject({ secret_key: 'sk_test_mine' });
  const wrong = await begin(['sandbox', '--scenario', 'storm'], { cwd }).done;
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('calm');
  const help = flat((await start(['sandbox', '--help'], { cwd }).done).out);
  expect(help).toContain(`what goes wrong: ${scenarioNames.join(', ')} (`);
});

it('sandbox uses the TEST keys of the environment without a configuration file, and says that it starts empty', async () => {
  const env = {
    COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_mine',
    COUNTERFOIL_TEST_ENCRYPTION_KEY: 'enc_test_mine',
  };
  const running = begin(['sandbox', '--json', '--port', '0'], { cwd: temporaryFolder(), env });
  const facts = JSON.parse(await running.line(/^\{/));
  expect(facts).toMatchObject({ secret_key: 'sk_test_mine', encryption_key: 'enc_test_mine' });
  expect(await running.line(/starts empty/)).toContain('forgets everything when it stops');
  const wrong = { COUNTERFOIL_TEST_SECRET_KEY: 'sk_live_mine' };
  const refused = await begin(['sandbox', '--port', '0'], { cwd: temporaryFolder(), env: wrong }).done;
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('this is a live key') });
});

it('sandbox --strict-signature refuses what is signed as it is but not in alphabetical order', async () => {
  const body = '{"reference":"A-1","amount":"1.00"}';
  for (const [args, status] of [
    [[], '07'],
    [['--strict-signature'], '22'],
  ] as const) {
    const running = begin(['sandbox', '--json', '--port', '0', ...args], { cwd: temporaryFolder() });
    const facts = JSON.parse(await running.line(/^\{/));
    const headers = {
      authorization: `Bearer ${facts.secret_key}`,
      signature: createHmac('sha512', facts.secret_key).update(body).digest('hex'),
    };
    const answer = await fetch(`${facts.url}/api/v1/bank_transfer`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ status });
  }
});

it('sandbox --duplicates takes refuse, accept and conflict, and anything else is refused with 2', async () => {
  const wrong = await begin(['sandbox', '--duplicates', 'maybe'], { cwd: temporaryFolder() }).done;
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('--duplicates: expected refuse, accept, conflict, got "maybe"');
});

it('sandbox refuses a port that cannot be with 2, and names who has one that is taken', async () => {
  const cwd = temporaryFolder();
  const wrong = await begin(['sandbox', '--port', '99999'], { cwd }).done;
  expect(wrong).toMatchObject({ code: 2, out: '' });
  expect(wrong.err).toBe('counterfoil: --port: expected a whole number up to 65535, got "99999"\n');
  const first = begin(['sandbox', '--json', '--port', '0'], { cwd });
  const { port } = new URL(JSON.parse(await first.line(/./)).url);
  const taken = await begin(['sandbox', '--port', port], { cwd }).done;
  expect(taken.code).toBe(1);
  expect(flat(taken.err)).toContain(
    `the sandbox cannot listen on 127.0.0.1:${port} (--port): the port is in use by node`,
  );
});
