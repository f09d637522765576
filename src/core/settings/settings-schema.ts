import { validate as isCron } from 'node-cron';
import { z } from 'zod';
import { alertSection, eventKeys, webAddress } from './alert-section.ts';
import {
  checkApproval,
  checkBackupDir,
  checkLimits,
  checkTlsPair,
  extraPath,
  isAddress,
  isLedgerUrl,
  isQueueUrl,
  isTimezone,
  mayTurnAway,
  parseBaseUrl,
  parseInstant,
} from './settings-checks.ts';

const count = (fallback: number, min: number, max = 2_147_483_647) =>
  z.number().int().min(min).max(max).default(fallback);
const port = (fallback: number) => count(fallback, 0, 65_535);
const flag = (fallback: boolean) => z.boolean().default(fallback);
const text = z.string().default('');
const zone = z
  .string()
  .refine(isTimezone, 'expected an IANA time zone such as Africa/Lagos')
  .default('Africa/Lagos');
const schedule = z
  .string()
  .refine((text) => text === '' || isCron(text), 'expected a cron expression, or nothing to turn it off');
/** The paces that divide an hour or a day: each copy then has its time of the clock. */
const backupPaces = ['5m', '10m', '15m', '30m', '1h', '2h', '4h', '6h', '12h', '1d'] as const;
const address = z.string().refine(isAddress, 'expected an address such as 192.0.2.7 or 192.0.2.0/24');
const addresses = z.array(address).default([]);
const held = z.enum(['batch', 'rows']).default('batch');
const names = z.array(z.string().trim().min(1)).default([]);
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
  z.string().regex(/^\d{2,3}$/, 'a status code has two or three digits, in quotes: "03"'),
  z.enum(['unknown', 'halt'], 'a code may move only towards unknown or halt'),
);

/** What the holder of an admin token may do; see `admin.roles`. */
export const roleNames = ['read', 'drop', 'approve', 'decide'] as const;
export type Role = (typeof roleNames)[number];

const noExtras = { balance: '', account_name: '' };

const section = <T extends z.ZodRawShape>(shape: T) => z.strictObject(shape);

/** The configuration file with its defaults. file-values.ts checks the names of the keys. */
export const sections = {
  service: section({
    base_url: z
      .string('required: the address of the payments service')
      .transform(parseBaseUrl)
      .describe('The address of the payments service, without `/api/v1`. `http` only for this machine'),
    authorization_key: z
      .enum(['secret', 'encryption'])
      .default('secret')
      .describe('The key in the Authorization header of a payout. All other requests use the secret key'),
    signature_key: z
      .enum(['secret', 'encryption', 'auto'])
      .default('auto')
      .describe(
        'The key that signs a payout. `auto`: the encryption key when one is set, else the secret key',
      ),
    timeout_ms: count(30_000, 1).describe('How long a request may take, in milliseconds'),
    concurrency: count(8, 1, 1000).describe('Requests in flight, per process'),
    requests_per_second: count(20, 0, 100_000).describe('Shared by all processes on the ledger. 0: no limit'),
    resends_per_minute: count(6, 1, 1000).describe(
      'Requests to send webhooks again, shared likewise. May be spent in one burst',
    ),
    codes: codes.default({}).describe('Moves a known status code towards caution: `{"25": "unknown"}`'),
    edge_rejections: z
      .array(z.number().int().refine(mayTurnAway, 'expected 400 to 499 or 503'))
      .default([429])
      .describe(
        'HTTP statuses that mean "turned away, nothing taken", even without the usual body of the service. Where that is wrong, a payout may be paid twice',
      ),
    extras: section({ balance: extraPath, account_name: extraPath })
      .default(noExtras)
      .describe(
        'Questions before payment: the paths of `balance` (such as `wallet_balance`) and `account_name`, which is asked about accounts that were never paid under their name. An empty path is off',
      ),
  }),
  intake: section({
    on_invalid_row: z
      .enum(['reject_file', 'skip_row'])
      .default('reject_file')
      .describe('`skip_row` pays the good rows and gives the bad ones back'),
    sender_name: text.describe('For files without the column `sender_name`'),
    reference_prefix: z
      .string()
      .regex(/^$|^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/, 'expected letters, digits, _ and -, at most 30')
      .default('')
      .describe('Each reference must begin with it. Makes references for files without the column'),
    max_rows: count(1_000_000, 1).describe('A file with more rows is refused'),
    max_bytes: count(536_870_912, 1, Number.MAX_SAFE_INTEGER).describe('A larger file is refused unread'),
    settle_seconds: count(10, 0).describe(
      'How long a dropped file must stay unchanged. 0: only a process that still writes it is waited for',
    ),
    banks_file: text.describe(
      'A CSV of the bank codes of the service (`code,name,aliases`). Other codes are refused',
    ),
    unique_columns: names.describe('Such as `invoice_number`: a value that is paid twice holds the batch'),
    narration_max: count(100, 0).describe('A narration with more characters gets a warning. 0: off'),
  }),
  submission: section({
    approval: z
      .enum(['none', 'always', 'above', 'callback'])
      .default('none')
      .describe('Which batches wait for a yes: none, all, those above `approval_above`, or all by callback'),
    approval_url: webAddress.describe('With `approval: callback`, your own server that says yes or no'),
    approval_above: limits
      .default({})
      .describe(
        'With `approval: above`, the total of a batch above which it waits, per currency: `{NGN: "5000000.00"}`',
      ),
    daily_limit: dailyLimits
      .default({})
      .describe('Per currency and day of `submission.timezone`. What goes over it waits for the next day'),
    payout_limit: limits.default({}).describe('Per currency. A payout above it holds its batch, old or new'),
    duplicate_window_days: count(5, 0, 36_500).describe(
      'The same account, currency and amount within these days holds the batch. 0: off',
    ),
    quiet_period_minutes: count(1440, 0).describe(
      'How long an unknown outcome is watched before a person is asked',
    ),
    resubmit: z
      .enum(['manual', 'confirmed_absent'])
      .default('manual')
      .describe(
        '`confirmed_absent` sends an absent payout once more by itself. Only where the service refuses duplicate references',
      ),
    halt_after_unknown: count(3, 0).describe('This many unknown outcomes in a row halt sending. 0: never'),
    send_deadline_ms: count(5000, 1).describe('An intent older than this is never sent, in milliseconds'),
    canary: count(0, 0, 1_000_000).describe(
      'How many payouts of a batch are sent first. The rest goes when all of these are paid. 0: all at once',
    ),
    canary_hours: count(4, 1).describe('A canary that has not settled in this time halts sending'),
    payees: z
      .enum(['off', 'warn', 'approve_changed', 'approve_new'])
      .default('warn')
      .describe(
        'A batch with a changed account or an amount a hundred times that of before: a warning, or it waits for a yes. `approve_new`: also with a payee never paid before',
      ),
    on_changed: held.describe('What waits for that yes: the batch, or only its changed and new rows'),
    timezone: zone.describe('The time zone of the day of `daily_limit`'),
  }).superRefine(checkApproval),
  receiver: section({
    enabled: flag(true).describe(
      '`false` where the service cannot reach you. Then no webhook is expected and none is missing',
    ),
    host: z.string().min(1).default('127.0.0.1').describe('The address where webhooks arrive'),
    port: port(8787).describe('The port where webhooks arrive'),
    tls_cert: text.describe(
      'PEM file, relative to the home. Set both for HTTPS; neither for loopback or behind a TLS proxy',
    ),
    tls_key: text.describe('PEM file of its key. Both are renewed without a restart'),
    trust_proxy: addresses.describe('Addresses that may set X-Forwarded-For and X-Forwarded-Proto'),
    allow_from: addresses.describe('Addresses or networks that may deliver. Empty: any'),
    replay_window_seconds: count(300, 1).describe(
      'A webhook whose timestamp is further off only leads to a look-up',
    ),
    max_body_bytes: count(65_536, 1, 16_777_216).describe('A larger delivery is refused'),
  }).superRefine(checkTlsPair),
  admin: section({
    enabled: flag(true).describe(
      'The admin server of `serve`: `/healthz`, `/readyz`, `/metrics` and the dashboard',
    ),
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('Where it listens. Another host than loopback needs tokens, and TLS or `admin.trust_proxy`'),
    port: port(8788).describe('The port where it listens'),
    tls_cert: text.describe('PEM file, relative to the home. Set both for HTTPS'),
    tls_key: text.describe('PEM file of its key'),
    trust_proxy: addresses.describe(
      'Addresses of TLS proxies before it, whose X-Forwarded-For and X-Forwarded-Proto count',
    ),
    roles: z
      .record(z.string(), z.array(z.enum(roleNames, `expected ${roleNames.join(', ')}`)))
      .refine(
        (roles) =>
          new Set(Object.keys(roles).map((name) => name.toLowerCase())).size === Object.keys(roles).length,
        'expected each person once: names that differ only in their case are one person',
      )
      .default({})
      .describe(
        'What each name of COUNTERFOIL_ADMIN_TOKENS may do: `read` (bank details and reports), `drop`, `approve`, `decide` (the rest). An empty list: figures and `/metrics` only. A name without an entry may do all',
      ),
  }).superRefine(checkTlsPair),
  ...{ alerts: alertSection, events: section(eventKeys) },
  ledger: section({
    url: z
      .string()
      .refine(
        isLedgerUrl,
        'expected sqlite:FILE, or postgres://USER@HOST/DATABASE (with ?schema=NAME for another schema than counterfoil)',
      )
      .default('sqlite:ledger.db')
      .describe(
        '`sqlite:FILE`, relative to the data folder, or `postgres://USER@HOST/DATABASE` (`?schema=NAME` for another schema)',
      ),
    backup_dir: text.describe(
      '`serve` makes backups here; relative to the data folder, best on another disk. SQLite only',
    ),
    backup_every: z
      .enum(backupPaces, `expected ${backupPaces.join(', ')}`)
      .default('1d')
      .describe(
        `How often: ${backupPaces.map((pace) => `\`${pace}\``).join(', ')}. \`1d\`: before the nightly run`,
      ),
  }).superRefine(checkBackupDir),
  queue: section({
    url: z
      .string()
      .refine(
        isQueueUrl,
        'expected inline, or an address such as redis://HOST:6379/0, rediss://HOST or postgres://USER@HOST/DATABASE',
      )
      .default('inline')
      .describe(
        '`inline`, or `redis://HOST:6379/0`, `rediss://…`, `postgres://…`. Then several `serve` share a ledger',
      ),
  }),
  reconciliation: section({
    since: z
      .string()
      .transform(parseInstant)
      .default('')
      .describe(
        'No transfer created before this instant is expected to be ours. Empty: since the ledger was made',
      ),
    window_days: count(7, 1, 36_500).describe('How far back a run without `--full` reads at least'),
    stale_pending_hours: count(24, 0).describe(
      'How long a payout may be pending before that is a discrepancy. 0: at once',
    ),
    webhook_grace_minutes: count(60, 0).describe(
      'How long a webhook may take after the final state is known. 0: at once',
    ),
    missing_grace_minutes: count(15, 0).describe(
      'How long a new payout may be absent from the list. 0: at once',
    ),
    return_hours: count(6, 0).describe(
      'How far apart two runs must see a paid payout as failed before it counts as returned. 0: any two runs',
    ),
    max_passes: count(5, 1, 1000).describe('How often a run reads the list at most to prove it complete'),
  }),
  schedules: section({
    timezone: zone.describe('The time zone of the schedules'),
    intake: schedule
      .default('* * * * *')
      .describe('Takes files from the inbox. An empty schedule turns its job off'),
    submit: schedule.default('* * * * *').describe('Sends what is ready'),
    follow_up: schedule.default('*/5 * * * *').describe('Asks about payouts that are not final'),
    reconcile: schedule
      .default('0 2 * * *')
      .describe('Compares the ledger with the service, back to `reconciliation.window_days`'),
    reconcile_full: schedule.default('0 3 * * 0').describe('Compares everything'),
    report: schedule
      .default('30 6 * * *')
      .describe('Writes the results of batches that changed, and the last run'),
  }),
  reports: section({
    bom: flag(true).describe('Begins CSV files with a byte order mark, for spreadsheets'),
    delimiter: z
      .enum([',', ';', '\t'])
      .default(',')
      .describe('Separates the cells of CSV files: comma, semicolon or tab'),
    timezone: zone.describe('The time zone of the reports, and of their days and months'),
    mask_accounts: flag(false).describe('Hides account numbers but for their last digits'),
    keep_days: count(0, 0, 36_500).describe('How many days the files of a run stay. 0: for ever'),
  }),
};

/** The whole file; `mode` is at the top level beside the sections. */
export const fileSchema = z.strictObject({
  mode: z
    .enum(['test', 'live'])
    .default('test')
    .describe('Which keys and which webhook path. A home keeps its mode permanently'),
  ...sections,
});

/** The parsed file in the spelling of the file. */
export type FileConfig = z.infer<typeof fileSchema>;
