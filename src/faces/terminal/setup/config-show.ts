import type { SecretState, Setting } from '../../../core/settings/explain.ts';
import { settingsPlaces, settingsProblem } from '../context/context.ts';
import { type Result, Stop } from '../context/result.ts';
import type { Context } from '../context/world.ts';

/** `config show`: every effective value with its origin, in the file's spelling and order; secrets redacted. */
export async function configShow(context: Context, args: string[]): Promise<Result> {
  if (args[0] !== 'show') throw new Stop(`config knows only the verb show, not "${args[0] ?? ''}"`);
  const { explainConfig } = await import('../../../core/settings/explain.ts');
  const explained = explainConfig(settingsPlaces(context));
  if (explained.kind === 'problem') throw new Stop(settingsProblem(explained));
  const { config, settings, secrets, unread } = explained;
  const warnings = [...config.warnings, ...unread.map((name) => `${name}: nothing reads this variable`)];
  if (!context.options.quiet) for (const warning of warnings) context.say(`warning: ${warning}`);
  const { stringify } = await import('yaml');
  const valueText = (value: unknown): string =>
    stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  return {
    code: 0,
    lines: [
      `# ${config.configFile}`,
      `# home ${config.home}, data ${config.dataDir}`,
      ...settingLines(settings, valueText),
      '',
      '# Secrets come only from the environment, .env, or the file that NAME_FILE names.',
      ...secrets.map((secret) => `# ${secret.name.padEnd(33)} ${secretText(secret)}`),
    ],
    json: {
      shape: 'config show',
      fields: {
        config_file: config.configFile,
        home: config.home,
        data_dir: config.dataDir,
        settings,
        secrets: secrets.map(({ name, values, origin, file }) => {
          return { name, state: values > 0 ? 'set' : 'not set', values, origin: origin || null, file };
        }),
        warnings,
      },
    },
  };
}

function settingLines(settings: readonly Setting[], valueText: (value: unknown) => string): string[] {
  let section = '';
  return settings.flatMap(({ key, value, origin }) => {
    const [head = '', name] = key.split('.');
    const opens = name !== undefined && head !== section;
    if (opens) section = head;
    const text = name === undefined ? `${head}: ${valueText(value)}` : `  ${name}: ${valueText(value)}`;
    return [...(opens ? [`${head}:`] : []), `${text.padEnd(44)} # ${origin}`];
  });
}

/** `set (env, 2 values)`, never any part of a value. */
export function secretText({ values, origin }: Pick<SecretState, 'values' | 'origin'>): string {
  if (values === 0) return 'not set';
  const from = origin === 'environment' ? 'env' : origin;
  return `set (${from}, ${values === 1 ? '1 value' : `${values} values`})`;
}
