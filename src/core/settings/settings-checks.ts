import { isIP } from 'node:net';
import { code as currencyOf } from 'currency-codes';
import { z } from 'zod';

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name !== '';
  } catch {
    return false;
  }
}

/** True for an IP address, or a network such as 192.0.2.0/24. */
export function isAddress(text: string): boolean {
  const [host = '', prefix, ...rest] = text.split('/');
  const family = isIP(host);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/** A gateway's 502 or 504 may come after it passed the request on, so neither can be declared harmless (P8). */
export function mayTurnAway(status: number): boolean {
  return (status >= 400 && status <= 499) || status === 503;
}

export function isLedgerUrl(text: string): boolean {
  if (!/^postgres(ql)?:/.test(text)) return /^sqlite:(?!:memory:).+/.test(text);
  const schema = URL.canParse(text) ? new URL(text).searchParams.get('schema') : null;
  return isQueueUrl(text) && (schema === null || /^[a-z_][a-z0-9_]{0,62}$/.test(schema));
}

/** The path of a Redis address is a database number; a PostgreSQL address needs a database name. */
export function isQueueUrl(text: string): boolean {
  if (text === 'inline') return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, searchParams } = new URL(text);
  if (protocol === 'redis:' || protocol === 'rediss:')
    return hostname !== '' && /^(\/\d{0,5})?$/.test(pathname);
  const placed = hostname !== '' || searchParams.has('host');
  return /^postgres(ql)?:$/.test(protocol) && placed && /^\/[^/]+$/.test(pathname);
}

/** Refuses a certificate without its key, or a key without its certificate. */
export function checkTlsPair(
  receiver: { tls_cert: string; tls_key: string },
  context: z.RefinementCtx,
): void {
  const { tls_cert, tls_key } = receiver;
  if ((tls_cert === '') === (tls_key === '')) return;
  const [absent, other] = tls_cert === '' ? ['tls_cert', 'tls_key'] : ['tls_key', 'tls_cert'];
  const message = `expected a file, since ${other} is set: name both for HTTPS, or neither behind a TLS proxy`;
  context.addIssue({ code: 'custom', path: [absent], message });
}

/** Refuses what is no amount of its currency. */
export function checkLimits(map: Record<string, string>, context: z.RefinementCtx): void {
  for (const [currency, amount] of Object.entries(map)) {
    const digits = /^[A-Z]{3}$/.test(currency) ? currencyOf(currency)?.digits : undefined;
    const fail = (message: string): void => context.addIssue({ code: 'custom', path: [currency], message });
    if (digits === undefined) fail('expected a currency code such as NGN');
    else if (!/^\d{1,15}(\.\d+)?$/.test(amount) || (amount.split('.')[1] ?? '').length > digits) {
      fail(`expected a decimal in quotes with at most ${digits} digits after the point`);
    }
  }
}

/** Returns the address without `/api/v1`. Refuses plain HTTP beyond this machine. */
export function parseBaseUrl(text: string, context: z.RefinementCtx): string {
  const fail = (message: string): string => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (!URL.canParse(text)) return fail('expected an address such as https://pay.example.com');
  const url = new URL(text);
  if (url.username || url.password || url.search || url.hash)
    return fail('expected no user, password, query or fragment');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    return fail('expected https (http only for loopback)');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

/** True for names and addresses that stay on this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A date alone is refused: its time zone would be a guess. */
export function parseInstant(text: string, context: z.RefinementCtx): string {
  if (text === '') return '';
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
  // Date.parse alone reads 30 February as 2 March.
  const ms = z.iso.date().safeParse(day).success ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) {
    context.addIssue({
      code: 'custom',
      message: 'expected an instant with its zone, such as 2026-11-01T00:00:00Z',
    });
    return z.NEVER;
  }
  return new Date(ms).toISOString();
}

export function checkBackupDir(ledger: { url: string; backup_dir: string }, context: z.RefinementCtx): void {
  if (ledger.backup_dir === '' || ledger.url.startsWith('sqlite:')) return;
  const message =
    'expected nothing: a ledger on PostgreSQL is backed up by its database, with pg_dump or base backups';
  context.addIssue({ code: 'custom', path: ['backup_dir'], message });
}

/** An approval needs what it is decided by. */
export function checkApproval(
  {
    approval,
    approval_above,
    approval_url,
  }: Record<'approval' | 'approval_url', string> & {
    approval_above: Record<string, string>;
  },
  context: z.RefinementCtx,
): void {
  const fail = (key: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [key], message });
  if (approval === 'above' && Object.keys(approval_above).length === 0)
    fail(
      'approval_above',
      'expected a total for each currency that needs approval, such as {NGN: "5000000.00"}',
    );
  if (approval === 'callback' && approval_url === '')
    fail('approval_url', 'expected the address of the server that approves, since approval is callback');
}

/** A configuration that names totals expects them to be checked, and one that names a server expects it to be asked. */
export function idleApproval({
  approval,
  approvalAbove,
  approvalUrl,
}: Record<'approval' | 'approvalUrl', string> & { approvalAbove: object }): string[] {
  const idle = (key: string, needed: string): string =>
    `submission.${key} has no effect while submission.approval is ${approval}, and no batch waits for ${needed}`;
  return [
    ...(approval === 'none' && Object.keys(approvalAbove).length > 0
      ? [`${idle('approval_above', 'an approval')}: set submission.approval to above`]
      : []),
    ...(approval !== 'callback' && approvalUrl !== ''
      ? [`${idle('approval_url', 'its answer')}: set submission.approval to callback`]
      : []),
  ];
}

/** A path below `/api/v1`; empty: off. The two endpoints are no part of the interface document. */
export const extraPath = z
  .string()
  .transform((path) => path.replace(/^\/+/, ''))
  .refine(
    (path) => /^$|^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(path),
    'expected a path below /api/v1 such as wallet_balance, or nothing to turn it off',
  )
  .default('');
