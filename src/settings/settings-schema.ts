import { isIP } from 'node:net';
import { code as currencyOf } from 'currency-codes';
import { validate as isCron } from 'node-cron';
import { z } from 'zod';

const count = (min: number, max = 2_147_483_647) => z.number().int().min(min).max(max);
const port = count(0, 65_535);
const zone = z.string().refine(isTimezone, 'expected an IANA time zone such as Africa/Lagos');
const schedule = z
  .string()
  .refine((text) => text === '' || isCron(text), 'expected a cron expression, or nothing to turn it off');
const address = z.string().refine(isAddress, 'expected an address such as 192.0.2.7 or 192.0.2.0/24');
const limits = z
  .record(z.string(), z.union([z.string(), z.number()]).transform(String))
  .superRefine(checkLimits);
const dailyLimits = limits.superRefine((map, context) => {
  for (const [currency, amount] of Object.entries(map))
    if (!/[1-9]/.test(amount))
      context.addIssue({
        code: 'custom',
        path: [currency],
        message: 'expected more than zero; leave the currency out for no limit',
      });
});
const codes = z.record(
  z.string().regex(/^\d{2,3}$/, 'a status code has two or three digits; write it in quotes'),
  z.enum(['unknown', 'halt'], 'a code may move only towards unknown or halt'),
);

/** This version accepts one value of the setting and refuses every other, instead of ignoring it. */
const only = <T extends string | number>(known: T) =>
  z.literal(known, `this version knows only ${JSON.stringify(known)}`);
const emptyText = only('');
const emptyList = z.array(z.never()).max(0, 'this version knows only an empty list');

const section = <T extends z.ZodRawShape>(shape: T) => z.strictObject(shape);

/** The configuration file as contract.md spells it, with defaults. yaml-file.ts checks the names of the keys. */
export const sections = {
  service: section({
    base_url: z.string('required: the address of the payments service').transform(parseBaseUrl),
    authorization_key: z.enum(['secret', 'encryption']).default('secret'),
    signature_key: z.enum(['secret', 'encryption', 'auto']).default('auto'),
    timeout_ms: count(1).default(30_000),
    concurrency: count(1, 1000).default(8),
    requests_per_second: count(0, 100_000).default(20),
    resends_per_minute: count(1, 1000).default(6),
    codes: codes.default({}),
    edge_rejections: z
      .array(z.number().int().refine(mayTurnAway, 'expected 400 to 499 or 503'))
      .default([429]),
  }),
  intake: section({
    on_invalid_row: z.enum(['reject_file', 'skip_row']).default('reject_file'),
    sender_name: z.string().default(''),
    reference_prefix: z
      .string()
      .regex(/^$|^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/, 'expected letters, digits, _ and -, at most 30')
      .default(''),
    max_rows: count(1).default(1_000_000),
    max_bytes: count(1, Number.MAX_SAFE_INTEGER).default(536_870_912),
    settle_seconds: count(0).default(10),
  }),
  submission: section({
    approval: z.enum(['none', 'always', 'above']).default('none'),
    approval_above: limits.default({}),
    daily_limit: dailyLimits.default({}),
    payout_limit: limits.default({}),
    duplicate_window_days: count(0, 36_500).default(5),
    quiet_period_minutes: count(0).default(1440),
    resubmit: z.enum(['manual', 'confirmed_absent']).default('manual'),
    halt_after_unknown: count(0).default(3),
    send_deadline_ms: count(1).default(5000),
    canary: count(0, 1_000_000).default(0),
    canary_hours: count(1).default(4),
    timezone: zone.default('Africa/Lagos'),
  }).superRefine(({ approval, approval_above }, context) => {
    if (approval !== 'above' || Object.keys(approval_above).length > 0) return;
    const message = 'expected a total for each currency that needs approval, such as {NGN: "5000000.00"}';
    context.addIssue({ code: 'custom', path: ['approval_above'], message });
  }),
  receiver: section({
    enabled: z.boolean().default(true),
    host: z.string().min(1).default('127.0.0.1'),
    port: port.default(8787),
    tls_cert: z.string().default(''),
    tls_key: z.string().default(''),
    trust_proxy: z.array(address).default([]),
    allow_from: z.array(address).default([]),
    replay_window_seconds: count(1).default(300),
    max_body_bytes: count(1, 16_777_216).default(65_536),
  }).superRefine(checkTlsPair),
  admin: section({
    enabled: z.boolean().default(true),
    host: z.string().min(1).default('127.0.0.1'),
    port: port.default(8788),
    tls_cert: z.string().default(''),
    tls_key: z.string().default(''),
    trust_proxy: z.array(address).default([]),
  }).superRefine(checkTlsPair),
  alerts: section({
    webhook_url: emptyText.default(''),
    smtp_url: emptyText.default(''),
    mail_to: emptyList.default([]),
    mail_from: emptyText.default(''),
  }),
  ledger: section({
    url: z
      .string()
      .refine(
        isLedgerUrl,
        'expected sqlite:FILE, or postgres://USER@HOST/DATABASE (with ?schema=NAME for another schema than counterfoil)',
      )
      .default('sqlite:ledger.db'),
  }),
  queue: section({
    url: z
      .string()
      .refine(
        isQueueUrl,
        'expected inline, or an address such as redis://HOST:6379/0, rediss://HOST or postgres://USER@HOST/DATABASE',
      )
      .default('inline'),
  }),
  reconciliation: section({
    since: z.string().transform(parseInstant).default(''),
    window_days: count(1, 36_500).default(7),
    stale_pending_hours: count(0).default(24),
    webhook_grace_minutes: count(0).default(60),
    missing_grace_minutes: count(0).default(15),
    max_passes: count(1, 1000).default(5),
  }),
  schedules: section({
    timezone: zone.default('Africa/Lagos'),
    intake: schedule.default('* * * * *'),
    submit: schedule.default('* * * * *'),
    follow_up: schedule.default('*/5 * * * *'),
    reconcile: schedule.default('0 2 * * *'),
    reconcile_full: schedule.default('0 3 * * 0'),
    report: schedule.default('30 6 * * *'),
  }),
  reports: section({
    bom: z.boolean().default(true),
    delimiter: z.enum([',', ';', '\t']).default(','),
    timezone: zone.default('Africa/Lagos'),
    mask_accounts: z.boolean().default(false),
  }),
};

/** The whole file; `mode` is at the top level beside the sections. */
export const fileSchema = z.strictObject({ mode: z.enum(['test', 'live']).default('test'), ...sections });

/** The parsed file in the spelling of the file. */
export type FileConfig = z.infer<typeof fileSchema>;

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name !== '';
  } catch {
    return false;
  }
}

function isAddress(text: string): boolean {
  const [host = '', prefix, ...rest] = text.split('/');
  const family = isIP(host);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/** A gateway's 502 or 504 may come after it passed the request on, so neither can be declared harmless (P8). */
function mayTurnAway(status: number): boolean {
  return (status >= 400 && status <= 499) || status === 503;
}

/** True for a valid `ledger.url`. */
export function isLedgerUrl(text: string): boolean {
  if (!/^postgres(ql)?:/.test(text)) return /^sqlite:(?!:memory:).+/.test(text);
  const schema = URL.canParse(text) ? new URL(text).searchParams.get('schema') : null;
  return isQueueUrl(text) && (schema === null || /^[a-z_][a-z0-9_]{0,62}$/.test(schema));
}

/** The path of a Redis address is a database number; a PostgreSQL address needs a database name. */
function isQueueUrl(text: string): boolean {
  if (text === 'inline') return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, searchParams } = new URL(text);
  if (protocol === 'redis:' || protocol === 'rediss:')
    return hostname !== '' && /^(\/\d{0,5})?$/.test(pathname);
  const placed = hostname !== '' || searchParams.has('host');
  return /^postgres(ql)?:$/.test(protocol) && placed && /^\/[^/]+$/.test(pathname);
}

function checkTlsPair(server: { tls_cert: string; tls_key: string }, context: z.RefinementCtx): void {
  const { tls_cert, tls_key } = server;
  if ((tls_cert === '') === (tls_key === '')) return;
  const [absent, other] = tls_cert === '' ? ['tls_cert', 'tls_key'] : ['tls_key', 'tls_cert'];
  const message = `expected a file, since ${other} is set: name both for HTTPS, or neither behind a TLS proxy`;
  context.addIssue({ code: 'custom', path: [absent], message });
}

function checkLimits(map: Record<string, string>, context: z.RefinementCtx): void {
  for (const [currency, amount] of Object.entries(map)) {
    const digits = /^[A-Z]{3}$/.test(currency) ? currencyOf(currency)?.digits : undefined;
    const fail = (message: string): void => context.addIssue({ code: 'custom', path: [currency], message });
    if (digits === undefined) fail('expected a currency code such as NGN');
    else if (!/^\d{1,15}(\.\d+)?$/.test(amount) || (amount.split('.')[1] ?? '').length > digits) {
      fail(`expected a decimal in quotes with at most ${digits} digits after the point`);
    }
  }
}

function parseBaseUrl(text: string, context: z.RefinementCtx): string {
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
function parseInstant(text: string, context: z.RefinementCtx): string {
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
