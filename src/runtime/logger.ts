import { type DestinationStream, destination, type Logger, pino } from 'pino';

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
 * Logs as JSON lines on stderr (stdout carries data). Keys and bank details are replaced by name, two levels deep, as
 * a net under the rule that nobody logs them. `quiet` keeps warnings and errors.
 */
export function createLogger(options: { quiet?: boolean; to?: DestinationStream } = {}): Logger {
  const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  return pino(
    {
      level: options.quiet ? 'warn' : 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '[hidden]' },
    },
    options.to ?? destination({ fd: 2, sync: true }),
  );
}
