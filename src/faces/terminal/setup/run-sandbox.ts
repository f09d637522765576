import type { JsonOf } from '../../../core/shapes/json-shapes.ts';
import { settingsPlaces, settingsProblem } from '../context/context.ts';
import { Stop } from '../context/result.ts';
import type { Context, Handler } from '../context/world.ts';
import { listenProblem } from '../serve/listen-problem.ts';

/** `sandbox`: runs the local payments service until stopped. Its first line shows URL and keys. */
export const sandbox: Handler = async (context, _args, options) => {
  const { createSandbox, duplicatesNames, scenarioNames } = await import('../../../sandbox/sandbox.ts');
  const scenario = String(options.scenario);
  if (!scenarioNames.includes(scenario))
    throw new Stop(`--scenario: no "${scenario}"; the known ones: ${scenarioNames.join(', ')}`);
  const duplicates = duplicatesNames.find((name) => name === options.duplicates);
  if (!duplicates)
    throw new Stop(
      `--duplicates: expected ${duplicatesNames.join(', ')}, got "${String(options.duplicates)}"`,
    );
  const keys = await configuredKeys(context);
  const port = number(options.port, '--port', 65_535);
  const running = await createSandbox({
    port,
    seed: number(options.seed, '--seed'),
    settleMs: number(options.settleMs, '--settle-ms'),
    scenario,
    duplicates,
    strictSignature: options.strictSignature === true,
    ...(typeof options.webhookUrl === 'string' && { webhookUrl: options.webhookUrl }),
    ...(keys && { keys: { test: keys } }),
  }).catch((error: unknown) => {
    const at = { what: 'the sandbox', host: '127.0.0.1', port, setting: '--port' };
    const problem = listenProblem(error, at);
    throw problem ? new Stop(problem, 1) : error;
  });
  const { test } = running.keys;
  const facts: JsonOf<'sandbox'> = {
    url: running.url,
    secret_key: test.secretKey,
    public_key: test.publicKey,
    encryption_key: test.encryptionKey,
    webhook_key: test.webhookKey ?? null,
    scenario,
  };
  if (context.options.json) context.print(JSON.stringify({ schema: 1, ...facts }));
  else for (const [name, value] of Object.entries(facts)) context.print(`${name.padEnd(15)} ${value ?? '-'}`);
  const planted = running.book.transfers().length;
  if (!context.options.quiet)
    context.say(
      `the sandbox starts ${planted === 0 ? 'empty' : `with ${planted} transfer that nobody ordered`}, and forgets everything when it stops`,
    );
  await new Promise<void>((resolve) =>
    context.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  await running.stop();
  return { code: 0, ignoresInterrupt: true };
};

/** The TEST keys of the local worker, so that its configuration needs no change; undefined when there are none. */
async function configuredKeys(context: Context) {
  const { loadTestKeys } = await import('../../../core/settings/settings.ts');
  const loaded = loadTestKeys(settingsPlaces(context));
  if (loaded.kind === 'problem') throw new Stop(settingsProblem(loaded));
  const { keys } = loaded;
  const secretKey = keys?.secretKeys[0];
  const webhookKey = keys?.webhookKeys[0];
  if (!secretKey) return undefined;
  return {
    secretKey,
    publicKey: keys?.publicKeys[0] ?? 'pk_test_sandbox',
    encryptionKey: keys?.encryptionKeys[0] ?? secretKey,
    ...(webhookKey && { webhookKey }),
  };
}

function number(value: unknown, flag: string, most = 999_999_999): number {
  const text = String(value);
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw new Stop(`${flag}: expected a whole number up to ${most}, got "${text}"`);
  return Number(text);
}
