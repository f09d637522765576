import packageJson from '../../package.json' with { type: 'json' };
import { createRedactor } from '../core/domain/redact.ts';
import { createLogger, type Logger } from '../core/runtime/logger.ts';
import { type Config, secretsOf } from '../core/settings/settings.ts';

/** The log of a process: it hides the keys of the configuration, and each line says the mode and the version. */
export function openLog(
  config: Config,
  { quiet = true, renderLog }: { quiet?: boolean; renderLog?: (line: string) => string },
): Logger {
  return createLogger({
    quiet,
    redact: createRedactor(secretsOf(config)),
    base: { mode: config.mode, version: packageJson.version },
    ...(renderLog && { render: renderLog }),
  });
}
