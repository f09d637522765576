import { listOpen } from '../../src/books/discrepancies/discrepancies.sql.ts';
import type { RunSummary } from '../../src/core/shapes/run-shapes.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { Subject, Town } from './town.ts';

/** Id and first sight of every discrepancy, by kind and subject. */
export type Seen = Map<string, { id: string; first: string }>;

const hour = 3_600_000;

/** What one night missed or believes wrongly, as sentences. */
export async function judge(about: {
  ledger: Ledger;
  town: Town;
  summary: RunSummary;
  night: number;
  seen: Seen;
}): Promise<string[]> {
  const { ledger, town, summary, night, seen } = about;
  const open = await listOpen(ledger.db, {});
  const keys = open.map(({ kind, subject }) => `${kind} ${subject}`);
  const stale = new Set(await stalePending(ledger, town.world.now));
  const due = new Set(town.subjects.flatMap((subject) => (subject.healed ? [] : wrongsOf(subject))));
  const may = new Set(town.subjects.flatMap(wrongsOf));
  const told: string[] = [];
  const say = (what: string): void => void told.push(`night ${night} (${summary.complete}): ${what}`);
  for (const key of keys) {
    const healed = !due.has(key) && may.has(key);
    if (!may.has(key) && !stale.has(key)) say(`false: ${key}`);
    // Silence closes nothing: only a whole listing must have closed what is healed.
    else if (healed && summary.complete === true) say(`not closed: ${key}`);
  }
  if (new Set(keys).size !== keys.length) say('something is open twice');
  for (const key of summary.complete === false ? [] : due) if (!keys.includes(key)) say(`missed: ${key}`);
  for (const { kind, subject, id, first_seen_at: first } of open) {
    const before = seen.get(`${kind} ${subject}`);
    if (before && (before.id !== id || before.first !== first)) say(`another identity: ${kind} ${subject}`);
    seen.set(`${kind} ${subject}`, { id, first });
  }
  if (summary.complete !== false) for (const what of await unlisted(ledger, town, summary)) say(what);
  return told;
}

/** Kinds and subjects of what is wrong about it. */
function wrongsOf({ plant, reference, row }: Subject): string[] {
  if (plant === null) return [];
  if (plant === 'missing_in_ledger') return [`${plant} transfer:${row.id}`];
  const also = plant === 'reference_collision' ? [`unknown_outcome ${reference}`] : [];
  return [`${plant} ${reference}`, ...also];
}

/** What the ledger holds as pending for longer than a day may be called stale. */
async function stalePending(ledger: Ledger, now: number): Promise<string[]> {
  const rows = await ledger.db
    .selectFrom('payouts')
    .select('reference')
    .where('state', '=', 'pending')
    .where('submitted_at', '<=', new Date(now - 23 * hour).toISOString())
    .execute();
  return rows.map(({ reference }) => `stale_pending ${reference}`);
}

/** Transfers that a listing proven whole, as far as it claims to be, does not show. */
async function unlisted(ledger: Ledger, { world }: Town, { run }: RunSummary): Promise<string[]> {
  const told = await ledger.db.selectFrom('runs').selectAll().where('id', '=', run).executeTakeFirstOrThrow();
  const rows = await ledger.db.selectFrom('listed').select('transfer_id').where('run_id', '=', run).execute();
  const shown = new Set(rows.map((row) => row.transfer_id));
  return world.rows
    .filter(({ id, created_at }) => {
      const at = new Date(created_at).toISOString();
      return at <= (told.list_cut ?? '') && at >= (told.edge ?? '') && !shown.has(id);
    })
    .map(({ id }) => `transfer ${id} is not listed`);
}
