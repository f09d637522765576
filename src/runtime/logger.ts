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
 * Logs as JSON lines on stderr (stdout carries data). Keys and bank details are replaced by name, two levels deep, and
 * keys once more by value, as a net under the rule that nobody logs them; of an account number the last four digits
 * stay. `quiet` keeps warnings and errors.
 */
export function createLogger(
  options: { quiet?: boolean; to?: DestinationStream; redact?: Redact } = {},
): Logger {
  const { redact = (line: string) => line } = options;
  const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  return pino(
    {
      level: options.quiet ? 'warn' : 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths,
        censor: (value, path) =>
          /^account_?number$/i.test(path.at(-1) ?? '') ? maskAccount(String(value)) : '[hidden]',
      },
      hooks: { streamWrite: (line) => maskAccounts(redact(line)) },
    },
    options.to ?? destination({ fd: 2, sync: true }),
  );
}
