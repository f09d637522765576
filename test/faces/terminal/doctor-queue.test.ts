import { describe, expect, it } from 'vitest';
import { checksOf } from './queue-checks.ts';

describe('doctor on a queue', () => {
  it('has nothing to ask about an inline one', async () => {
    expect(await checksOf('inline')).toMatchObject([{ name: 'queue', ok: true }]);
  });

  it.each([
    ['redis://:secret-password@127.0.0.1:1/2', 'version, memory and persistence'],
    ['postgres://me:secret-password@127.0.0.1:1/db', 'version and tables'],
  ])('says offline what it did not ask %s', async (url, unasked) => {
    const [check] = await checksOf(url, true);
    expect(check).toMatchObject({ ok: null, detail: expect.stringContaining(unasked) });
    expect(check?.detail).toContain('skipped: --offline');
    expect(JSON.stringify(check)).not.toContain('secret-password');
  });

  it.each([
    ['redis://:secret-password@127.0.0.1:1/2', 'nothing listens there: start it, or correct queue.url'],
    ['postgres://me:secret-password@127.0.0.1:1/db', 'nothing listens there: start it, or correct queue.url'],
    [
      'redis://no-such-host.invalid',
      "the name could not be resolved: check queue.url and this machine's DNS",
    ],
  ])('gives a fix where %s does not answer', async (url, fix) => {
    const checks = await checksOf(url);
    expect(checks).toMatchObject([{ name: 'queue', ok: false, fix }]);
    expect(JSON.stringify(checks)).not.toContain('secret-password');
  });
});
