import type { Config, LoadOptions, Unreadable } from '../../../core/settings/settings.ts';
import { adviceText } from '../../../words/advice-text.ts';
import { pathText } from '../kit/file-lines.ts';
import { refuseOtherAccount } from './home-owner.ts';
import { Stop } from './result.ts';
import type { Context } from './world.ts';

/** Reads the configuration. Stops with 2 and all problems in one message, in a home of the other mode (P24) or account. */
export async function loadSettings(context: Context): Promise<Config> {
  const { loadConfig } = await import('../../../core/settings/settings.ts');
  const loaded = loadConfig(settingsPlaces(context));
  if (loaded.kind === 'problem') throw new Stop(settingsProblem(loaded));
  refuseOtherAccount(loaded.config);
  const { assertHomeMode } = await import('../../../custody/home-mode.ts');
  assertHomeMode(loaded.config.dataDir, loaded.config.mode);
  if (!context.options.quiet)
    for (const warning of loaded.config.warnings) context.say(`warning: ${warning}`);
  return loaded.config;
}

/** Where the command line places the settings. */
export function settingsPlaces({ cwd, env, options }: Context): LoadOptions {
  return { cwd, env, configFlag: options.config, dataFlag: options.data };
}

/** Why there are no settings, and what to do. */
export function settingsProblem({ problems, advice }: Unreadable): string {
  return problems.join('\n') + (advice ? `: ${adviceText(advice)}` : '');
}

/** The same context without progress and warnings, for work inside a command that prints its own. */
export function hushed(context: Context): Context {
  return { ...context, options: { ...context.options, quiet: true } };
}

/** Confirms that live mode sends real money: it needs the configuration, the command line, and a person or `--yes`. */
export async function confirmSending(context: Context, config: Config, live: boolean): Promise<void> {
  if (!context.options.quiet)
    context.say(
      `${config.mode} mode   ${config.service.baseUrl}   ${pathText(context.cwd, config.configFile)}`,
    );
  if (config.mode !== 'live') return;
  if (!live)
    throw new Stop('the configuration says mode: live; add --live to send real money. Nothing was sent');
  await confirm(context, 'Send real money now?');
}

/** Asks a yes/no question on the terminal; without one, only `--yes` answers. Anything but yes stops with 2. */
export async function confirm(context: Context, question: string): Promise<void> {
  if (context.options.yes) return;
  if (!context.terminal) throw new Stop(`${question} There is no terminal to ask on: add --yes`);
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Stop('stopped: nothing was done');
}
