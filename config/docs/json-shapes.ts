import { z } from 'zod';
import { batchesJson, payoutsJson } from '../../src/faces/terminal/json/lists-json.ts';
import { storyJson } from '../../src/faces/terminal/json/story-json.ts';

/** What a command prints with `--json` beside `schema`, when it has done its work. */
type Shape = { does: string; shape: z.ZodType };

const text = z.string();
const count = z.int();
const amount = z.string();
const time = z.string();
const flag = z.boolean();
const strict = z.strictObject;
/** Rows of which only these fields are promised. */
const open = z.looseObject;
const map = (value: z.ZodType) => z.record(z.string(), value);

const byState = map(count);
const totals = map(amount);
const verdict = z.enum(['reconciled', 'exceptions', 'not_compared', 'none']);
const sum = strict({ count, amount });
const hold_reasons = z.array(text).describe('why the batch is held, with the command that helps');
const banks = map(strict({ count, totals }));
const problem = strict({
  row: count.nullable(),
  column: text.nullable(),
  value: text.nullable(),
  problem: text,
  fix: text,
});
const waivedListing = strict({ at: time, by: text, note: text, not_proven: text });
const halt = open({}).nullable().describe('why nothing is sent, or null');
const statement = map(
  strict({
    ...{ verdict, unseen: sum, foreign: sum, amount_differences: sum, unexplained: sum },
    ...{ duplicates: sum.optional(), status_conflicts: sum.optional(), collisions: sum.optional() },
    ...{ returns: sum.optional(), paid_elsewhere: sum.optional(), overturned: sum.optional() },
    open_conflicts: strict({ count }).optional(),
    unreadable: strict({ count }).optional(),
    difference: strict({ amount: text, listed: text, net_paid: text, made_of: map(sum) })
      .optional()
      .describe('what the service lists less net paid, and what that is made of'),
  }),
).describe('by currency');
const discrepancies = strict({ open: byState.describe('by kind'), opened: count, resolved: count });
const webhooksDue = { due: count, heard: count, late: count, forged: count, resent: count };
const runShape = {
  run: text,
  complete: z.union([flag, z.literal('window')]),
  list: text.describe('what the listing proved'),
  passes: count,
  listed: count.describe('distinct transfers seen'),
  matched: count.describe('our payouts paired with a listed transfer'),
  discrepancies,
  lookups: count,
  resends: count,
  webhooks: strict(webhooksDue),
  resend_requests: strict({ asked: count, heard: count, gave_up: count, waiting: count }),
  collections: strict({ verified: count, states: byState }),
  verdict,
  statement,
};
const rejectedFile = strict({
  kind: z.enum(['refused', 'left_out']),
  file: text.describe('its name as it was dropped'),
  since: time,
  problems: count,
  rows: count.describe('how many rows were left out'),
  batch: text.nullable().describe('the batch without these rows'),
  place: text.describe('what to correct and drop again'),
  errors_file: text.nullable(),
});
const evidence = open({ reference: text, state: text, can: text, remedies: z.array(text) });
const discrepancy = open({
  id: text,
  kind: text,
  severity: text,
  state: text,
  reference: text,
  action: text,
});

/** Every command with `--json`, and the fields of its object; a test compares them with what the commands print. */
export const jsonShapes: Readonly<Record<string, Shape>> = {
  init: {
    does: 'The paths that it wrote, and those that were there.',
    shape: strict({ mode: text, written: z.array(text), kept: z.array(text) }),
  },
  check: {
    does: 'One entry a file. `problems` is empty for a file that can be submitted.',
    shape: strict({
      files: z.array(
        strict({
          file: text,
          ok: flag,
          delimiter: text.nullable(),
          lines: count,
          rows: count,
          skipped: count.describe('bad rows left out with skip_row'),
          totals,
          banks,
          warnings: z.array(z.unknown()),
          problems: z.array(problem),
          problem_count: count,
          duplicates: z.array(z.unknown()),
          retries: z.array(z.unknown()),
          hold_reasons,
          waits: z.array(text),
        }),
      ),
    }),
  },
  submit: {
    does: 'The batches that it took in or sent from, and the files that it refused.',
    shape: strict({
      batches: z.array(
        open({ batch: text, file: text, rows: count, totals, state: text, payouts: byState, hold_reasons }),
      ),
      halted: halt,
      unknown: z.array(z.unknown()).describe('payouts whose outcome is unknown'),
      withheld: z.array(z.unknown()).describe('payouts not sent, since the service already shows them'),
      waits: z.array(text),
      refused: z.array(open({ file: text, problems: z.array(problem) })),
    }),
  },
  'submit --dry-run': {
    does: 'What `submit` would take in. Nothing was recorded.',
    shape: strict({
      dry_run: z.literal(true),
      batches: z.array(open({ file: text, rows: count, totals, banks, hold_reasons })),
      refused: z.array(open({ file: text })),
    }),
  },
  reconcile: {
    does: 'The run and its verdicts. `complete` is false when the list could not be proven whole.',
    shape: strict({ ...runShape, reports: z.array(text).describe('absolute paths') }),
  },
  report: { does: 'The files that it wrote.', shape: strict({ files: z.array(text) }) },
  status: {
    does: 'Where everything stands.',
    shape: strict({
      mode: text,
      halted: halt,
      waived_listing: waivedListing.nullable().describe('why new batches are sent without a complete list'),
      batches: z.array(
        open({ batch: text, file: text, rows: count, state: text, payouts: byState, totals, hold_reasons }),
      ),
      payouts: byState,
      totals: map(totals).describe('by currency, then by state'),
      discrepancies: byState.describe('open ones, by kind'),
      last_run: strict({
        run: text,
        started_at: time,
        list: text,
        verdict,
        verdicts: map(verdict),
      }).nullable(),
      webhooks: strict({
        received: count,
        applied: count,
        rejected: count,
        differing: count,
        oldest_unapplied_seconds: z.number().nullable(),
        forged: count.describe('since the last run'),
        at_last_run: strict(webhooksDue).nullable().describe('as the last run found it'),
      }),
      look_ups: strict({ due: count, overdue_seconds: count.nullable() }),
      collections: byState,
      queue: strict({
        url: text,
        kind: text,
        depth: count.nullable(),
        reachable: flag,
        why: text.nullable(),
      }),
      inbox: strict({
        files: count,
        waiting: z.array(z.unknown()),
        ignored: z.array(z.unknown()),
        rejected: z
          .array(rejectedFile)
          .describe(
            'files that were refused, or taken without some rows, until a good one comes or `ack` ends it',
          ),
      }),
      daemon: open({ running: flag }),
      schedules: z.array(
        strict({
          job: text,
          host: text.nullable(),
          last_run_at: time.nullable(),
          last_result: open({ kind: text }).nullable(),
          next_run_at: time.nullable(),
          late: flag,
        }),
      ),
      unknown: z.array(z.unknown()),
      withheld: z.array(z.unknown()),
      daily_limit: z.array(z.unknown()),
      waits: z.array(text),
      alerts: strict({
        channels: z.array(text),
        outbox: z.array(
          strict({ channel: text, waiting: count, failing: count, gave_up: count, problem: text.nullable() }),
        ),
      }),
      approvals: z.array(z.unknown()),
      files: strict({
        open: z.array(z.unknown()),
        lost: z.array(z.unknown()),
        changed: z.array(z.unknown()),
      }),
      reports_due: z.array(z.unknown()),
    }),
  },
  show: {
    does: 'The whole story of one payout. Account numbers are masked unless `--full-accounts`.',
    shape: storyJson.omit({ schema: true }),
  },
  payouts: {
    does: 'The payouts that match, and the totals of all that match.',
    shape: payoutsJson.omit({ schema: true }),
  },
  batches: { does: 'All batches.', shape: batchesJson.omit({ schema: true }) },
  discrepancies: {
    does: 'The open discrepancies, the gravest first. `ack` and `resolve` print their own objects.',
    shape: strict({ discrepancies: z.array(discrepancy), open: byState.describe('by kind') }),
  },
  'discrepancies --export': {
    does: 'The workbook that it wrote.',
    shape: strict({ file: text, exported: count, open: byState }),
  },
  retry: {
    does: 'The evidence and its digest. Without `--yes` nothing is decided, and `error` gives the command that decides.',
    shape: strict({
      evidence_digest: text,
      evidence: z.array(evidence),
      decided: z.array(
        open({ reference: text, pays_again: text.nullable(), state: text, message: text.nullable() }),
      ),
      refused: z.array(z.unknown()).optional(),
      nothing_needed: z.array(z.unknown()).optional(),
      waits: text.nullable().optional(),
      error: text.optional(),
    }),
  },
  settle: {
    does: 'The evidence that the decision was based on, and what became of each payout.',
    shape: strict({
      evidence_digest: text,
      evidence: z.array(evidence),
      settled: z.array(strict({ reference: text, state: text })),
      not_settled: z.array(strict({ reference: text, state: text, why: text })),
      reference: text.optional().describe('where it was about one payout'),
      state: text.optional().describe('where it was about one payout'),
      error: text.optional(),
      note: text.optional().describe('absent where nothing needed settling'),
    }),
  },
  resend: {
    does: 'What the service answered to each request.',
    shape: strict({ asked: z.array(strict({ reference: text, ok: flag, message: text })) }),
  },
  approve: {
    does: 'Who approved what, and how many payouts may go now.',
    shape: open({
      batch: text,
      approved_by: text,
      approved_at: time,
      digest: text,
      rows: count,
      totals,
      warnings: z.array(text),
      released: count,
      hold_reasons,
    }),
  },
  hold: {
    does: 'How many payouts it held, and what was already on its way.',
    shape: strict({
      batch: text,
      held: count,
      sending: count,
      under_way: byState,
      released_since: flag.describe('a release that saw this hold has ended it; then the exit code is 4'),
    }),
  },
  'hold --mode': {
    does: 'Everything is held.',
    shape: strict({ mode: text, held: z.literal(true), sending: count }),
  },
  release: {
    does: 'How many payouts may go, and what still holds the batch.',
    shape: open({ batch: text, released: count, sending: count, hold_reasons }),
  },
  'release --mode': {
    does: 'Whether a halt was lifted, and whether another remains.',
    shape: strict({
      mode: text,
      released: flag,
      cause: text.nullable(),
      waived: flag.describe('a person ended the wait for a complete list'),
      not_proven: text.nullable().describe('what that list did not prove'),
      evidence: text
        .nullable()
        .describe('the digest that --evidence must repeat, where a note can end the wait'),
      halted: halt,
    }),
  },
  cancel: {
    does: 'With a reference: `reference` and its state. With a batch: what was already on its way.',
    shape: z.union([
      strict({
        batch: text,
        state: text,
        cancelled: count,
        withdrawn: count.describe('retries that had not gone out; their payouts are unknown again'),
        listed: count,
        under_way: z.union([count, byState]),
      }),
      strict({ reference: text, state: text, cancelled: count, withdrawn: count }),
    ]),
  },
  ack: {
    does: 'The discrepancies that it changed, and those that were so already. `resolve` prints the same.',
    shape: strict({
      verdict: text,
      changed: count,
      already: z.array(text),
      files: z.array(rejectedFile).describe('the refused files that it ended'),
      open: byState,
    }),
  },
  'close-period': {
    does: 'The frozen month and its digest.',
    shape: strict({
      month: text,
      starts_at: time,
      ends_at: time,
      timezone: text,
      closed_at: time,
      closed_by: text,
      run: text,
      digest: text,
      statement: z.array(open({ currency: text })),
      warnings: z.array(z.unknown()),
      reports: z.array(text),
    }),
  },
  doctor: {
    does: 'One entry a check. `ok` is null for a check that was skipped.',
    shape: strict({
      ok: flag,
      checks: z.array(strict({ name: text, ok: flag.nullable(), detail: text, fix: text.nullable() })),
      signature: open({}).optional(),
    }),
  },
  'config show': {
    does: 'Every effective value with its origin. Of a secret it says only whether it is set.',
    shape: strict({
      config_file: text,
      home: text,
      data_dir: text,
      settings: z.array(strict({ key: text, value: z.unknown(), origin: text })),
      secrets: z.array(
        strict({
          name: text,
          state: z.enum(['set', 'not set']),
          values: count,
          origin: text.nullable(),
          file: text.nullable(),
        }),
      ),
      warnings: z.array(text),
    }),
  },
  verify: {
    does: 'One entry a check, and for each batch a digest that you can keep elsewhere.',
    shape: strict({
      ok: flag,
      checks: z.array(strict({ name: text, ok: flag, problems: z.array(z.unknown()), more: count })),
      batches: z.array(
        strict({
          batch: text,
          archived: flag,
          payouts: count,
          digest: text,
          certificate: strict({ at_most_once: flag, sends: count, decisions: count, not_taken: count }),
        }),
      ),
      waived_listings: z
        .array(waivedListing)
        .describe('decisions to send new batches of an adopted ledger without a complete list'),
    }),
  },
  backup: {
    does: 'The copy and what it holds.',
    shape: strict({
      file: text,
      at: time,
      bytes: count,
      batches: count.nullable(),
      payouts: count.nullable(),
    }),
  },
  restore: {
    does: 'What was restored, and where the ledger before it is now.',
    shape: strict({
      ledger: text,
      restored: text.nullable(),
      moved_aside: text.nullable(),
      adopted: flag,
      unknown: count.nullable().describe('payouts that became unknown; null before they are counted'),
      next: text,
    }),
  },
  archive: {
    does: 'The archive and what it holds, or that there is nothing to archive.',
    shape: z.union([
      strict({ archived: z.literal(false), month: text, left: count }),
      strict({
        archived: z.literal(true),
        file: text,
        month: text,
        batches: count,
        payouts: count,
        runs: count,
        left: count.describe('batches that stay, since something is open'),
        bytes: strict({ before: count, after: count, archive: count }),
      }),
    ]),
  },
  upgrade: {
    does: 'Whether the ledger was upgraded, and the backup of the one before.',
    shape: strict({ ledger: text, due: flag, upgraded: flag, backup: text.nullable() }),
  },
  'upgrade --check': {
    does: 'Whether the ledger is older than the program.',
    shape: strict({ ledger: text, due: flag }),
  },
  migrate: {
    does: 'Both places, and the digest that proves that they hold the same.',
    shape: strict({ from: text, to: text, digest: text, unknown: count, moved_before: flag, next: text }),
  },
  sandbox: {
    does: 'Its first line, printed when it is ready.',
    shape: strict({
      url: text,
      secret_key: text,
      public_key: text,
      encryption_key: text,
      webhook_key: text.nullable(),
      scenario: text,
    }),
  },
};
