import type { Home, Running } from './cli.ts';

/**
 * A daemon that is ready, to which the home's sandbox sends its webhooks; `url` is its receiver's address. With
 * `home.start` it is a process of its own.
 */
export async function serving(
  home: Home,
  env: Record<string, string> = {},
  begin: Home['begin'] = home.begin,
): Promise<{ daemon: Running; url: string }> {
  const daemon = begin(['serve', '--json'], env);
  const { receiver } = JSON.parse(await daemon.line(/"ready":true/));
  home.sandbox.setWebhookUrl(`${receiver}/webhooks/test`);
  return { daemon, url: receiver };
}

export const everySecond = '* * * * * *';
