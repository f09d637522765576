import { z } from 'zod';
import { count, fields, flag, instant, list, text, waivedListingShape } from './parts.ts';

export const verifyShape = fields({
  ok: flag,
  checks: list(
    fields({ name: text, ok: flag, problems: list(text).describe('the first of them'), more: count }),
  ),
  batches: list(
    fields({
      batch: text,
      archived: flag,
      payouts: count,
      digest: text,
      certificate: fields({ at_most_once: flag, sends: count, decisions: count, not_taken: count }),
    }),
  ),
  waived_listings: list(waivedListingShape).describe(
    'decisions to send new batches of an adopted ledger without a complete list',
  ),
});

export const backupShape = fields({
  file: text,
  at: instant,
  bytes: count,
  batches: count.nullable().describe('null like payouts in a ledger of another version'),
  payouts: count.nullable(),
});

export const restoreShape = fields({
  ledger: text,
  restored: text.nullable(),
  moved_aside: text.nullable(),
  adopted: flag,
  unknown: count.nullable().describe('payouts that became unknown; null before they are counted'),
  next: text,
});

export const archiveShape = z.union([
  fields({ archived: z.literal(false), month: text, left: count }),
  fields({
    archived: z.literal(true),
    file: text,
    month: text,
    batches: count,
    payouts: count,
    runs: count,
    left: count.describe('batches that stay, since something is open'),
    bytes: fields({ before: count, after: count, archive: count }),
  }),
]);

export const upgradeShape = fields({ ledger: text, due: flag, upgraded: flag, backup: text.nullable() });
export const upgradeCheckShape = fields({ ledger: text, due: flag });

export const migrateShape = fields({
  from: text,
  to: text,
  digest: text,
  unknown: count,
  moved_before: flag,
  next: text,
});
