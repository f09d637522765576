import { chmodSync } from 'node:fs';
import { type Home, makeHome, type Running, startSeveral } from '../support/cli.ts';
import { canaries } from './canaries.ts';

/** A home with the canaries planted, that keeps everything it printed and the titles of its processes. */
export type Planted = Home & {
  printed: string[];
  titles: string[];
  /** Runs commands one after the other in one process and returns their exit codes. */
  runAll(commands: string[][], env: Record<string, string>): Promise<number[]>;
};

export async function planted(): Promise<Planted> {
  const c = canaries;
  const home = await makeHome({
    keys: {
      test: {
        secretKey: c.testSecret,
        publicKey: c.testPublic,
        encryptionKey: c.testEncryption,
        webhookKey: c.testWebhook,
      },
    },
  });
  home.put(
    '.env',
    [
      `COUNTERFOIL_TEST_SECRET_KEY=${c.testSecret},${c.testSecretNext}`,
      `COUNTERFOIL_TEST_PUBLIC_KEY=${c.testPublic}`,
      `COUNTERFOIL_TEST_ENCRYPTION_KEY=${c.testEncryption},${c.testEncryptionNext}`,
      'COUNTERFOIL_TEST_WEBHOOK_KEY_FILE=keys/webhook',
      `COUNTERFOIL_LIVE_SECRET_KEY=${c.liveSecret},${c.liveSecretNext}`,
      `COUNTERFOIL_LIVE_PUBLIC_KEY=${c.livePublic}`,
      `COUNTERFOIL_LIVE_ENCRYPTION_KEY=${c.liveEncryption}`,
      `COUNTERFOIL_LIVE_WEBHOOK_KEY=${c.liveWebhook}`,
      '',
    ].join('\n'),
  );
  chmodSync(`${home.dir}/.env`, 0o600);
  home.put('keys/webhook', `${c.testWebhook},${c.testWebhookNext}\n`);
  for (const name of ['SECRET', 'PUBLIC', 'ENCRYPTION']) delete home.env[`COUNTERFOIL_TEST_${name}_KEY`];
  Object.assign(home.env, {
    COUNTERFOIL_ADMIN_TOKENS: `ada:${c.adminAda},obi:${c.adminObi}`,
    HTTPS_PROXY: `http://proxy:${c.proxyPassword}@127.0.0.1:9`,
    COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0',
    COUNTERFOIL_RECONCILIATION_WEBHOOK_GRACE_MINUTES: '0',
    COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0',
  });
  const printed: string[] = [];
  const titles: string[] = [];
  const kept = (running: Running): Running => {
    const done = running.done.then((ended) => {
      printed.push(ended.out, ended.err);
      return ended;
    });
    return { ...running, done };
  };
  const begin: Home['start'] = (args, env) => kept(home.start(args, env));
  return {
    ...home,
    printed,
    titles,
    start: begin,
    run: (args, env) => begin(args, env).done,
    async runAll(commands, env) {
      const { out } = await kept(startSeveral(commands, { cwd: home.dir, env: { ...home.env, ...env } }))
        .done;
      return JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');
    },
  };
}
