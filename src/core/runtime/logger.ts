import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { maskAccount, maskAccounts, type Redact } from '../domain/redact.ts';

export type { Logger } from 'pino';

const secretFields = [
  'authorization',
  'Authorization',
  'signature',
  'token',
  'secret',
  'password',
  'key',
  'secretKey',
  'secretKeys',
  'publicKeys',
  'encryptionKey',
  'encryptionKeys',
  'webhookKeys',
  'account_number',
  'accountNumber',
  'account_name',
  'accountName',
];

/**
 * Logs JSON lines to stderr (stdout carries data). Hides keys and bank details by field name, two levels deep, and keys
 * also by value, in case a caller logs one. The last four digits of an account number stay. `quiet` keeps warnings and
 * errors.
 */
export function createLogger(
  options: {
    quiet?: boolean;
    to?: DestinationStream;
    redact?: Redact;
    /** What every line says beside its level and time. */
    base?: { mode: string; version: string };
    /** Rewrites each finished JSON line, for people. */
    render?: (line: string) => string;
  } = {},
): Logger {
  const { redact = (line: string) => line, render = (line: string) => line } = options;
  const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  return pino(
    {
      level: options.quiet ? 'warn' : 'info',
      base: options.base ?? null,
      formatters: { level: (level) => ({ level }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths,
        censor: (value, path) =>
          /^account_?number$/i.test(path.at(-1) ?? '') ? maskAccount(String(value)) : '[hidden]',
      },
      hooks: { streamWrite: (line) => render(maskAccounts(redact(line))) },
    },
    options.to ?? destination({ fd: 2, sync: true }),
  );
}
