import {
  type Clearance,
  type ClearanceAnswer,
  type ClearanceSubject,
  judgeClearance,
} from '../core/domain/clearance.ts';
import { type ServiceAccount, whyElsewhere } from '../core/domain/origin.ts';
import { sentElsewhere } from '../core/ledger/origins.ts';
import type { RecordEvent } from '../core/ledger/projection.ts';
import { record } from '../core/ledger/record.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { linesOf } from '../watching/evidence/lineage.sql.ts';
import { withholder } from '../watching/evidence/withheld.ts';
import type { Cleared } from './claim-request.ts';

/**
 * The payouts that the service must be asked about before each of these may be sent: itself where it was sent before, and
 * all payouts that it pays again.
 */
export async function subjectsOf(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, bigint[]>> {
  const lines = await linesOf(db, ids);
  const rows = await db
    .selectFrom('payouts')
    .select(['id', 'submitted_at', 'unseen_sends'])
    .where('id', 'in', idList(ids))
    .execute();
  return new Map(
    rows.map(({ id, submitted_at, unseen_sends }) => {
      const before = [...(lines.get(id) ?? [])].filter((one) => one !== id);
      return [id, submitted_at !== null || unseen_sends > 0n ? [id, ...before] : before];
    }),
  );
}

/** The references of these payouts, in the order of their ids. */
export async function referencesFor(db: Db, ids: readonly bigint[]): Promise<string[]> {
  const query = db.selectFrom('payouts').select('reference').where('id', 'in', idList(ids));
  return (await query.orderBy('id').execute()).map(({ reference }) => reference);
}

const silence: ClearanceAnswer = { word: 'no_answer', status: null };

/**
 * Weighs the answers about these payouts (P31), and returns those that the answers allow. Where an answer speaks against
 * one, a person decides: a retry is unknown again, a successor is held, each with the reason. All others wait unchanged.
 * `about`: the payouts, each with its number of attempts before the service was asked. The answers say nothing of later
 * attempts.
 */
export async function weighAnswers(
  trx: Trx,
  about: Cleared,
  {
    answers,
    account,
    at,
  }: { answers: ReadonlyMap<bigint, ClearanceAnswer>; account: ServiceAccount; at: string },
): Promise<{ cleared: Cleared; waiting: bigint[] }> {
  const ids = [...about.keys()];
  const subjectsById = await subjectsOf(trx, ids);
  const asked = [...new Set([...ids, ...[...subjectsById.values()].flat()])];
  const elsewhere = await sentElsewhere(trx, asked, account);
  const rows = await trx
    .selectFrom('payouts')
    .select(['id', 'reference', 'state', 'attempt_count'])
    .where('id', 'in', idList(asked))
    .execute();
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const subject = (id: bigint): ClearanceSubject[] => {
    const row = rowOf.get(id);
    if (!row) return [];
    const { reference, state } = row;
    const answer = answers.get(id) ?? silence;
    return [{ reference, state, answer, elsewhere: elsewhere.get(id) ?? null }];
  };
  const cleared = new Map<bigint, bigint>();
  const waiting: bigint[] = [];
  const events: RecordEvent[] = [];
  for (const [id, subjects] of subjectsById) {
    const row = rowOf.get(id);
    // The answers themselves, or another process, may have moved it.
    if (row?.state !== 'ready') continue;
    const [itself = null] = subjects.includes(id) ? subject(id) : [];
    const before = subjects.filter((one) => one !== id).flatMap(subject);
    const clearance = judgeClearance(itself, before);
    if (clearance.kind === 'clear') cleared.set(id, about.get(id) ?? -1n);
    else if (clearance.kind === 'waits') waiting.push(id);
    else events.push(takenBack(id, row.reference, clearance, account));
  }
  await record(trx, at, events);
  return { cleared, waiting };
}

type Against = Extract<Clearance, { kind: 'against' }>;

function takenBack(id: bigint, reference: string, against: Against, account: ServiceAccount): RecordEvent {
  const why = whyAgainst(reference, against, account);
  const kind = against.by === 'itself' ? 'doubted' : 'hold';
  return { payoutId: id, source: withholder, event: { kind, why, by: 'answer' } };
}

function whyAgainst(reference: string, { because, of }: Against, account: ServiceAccount): string {
  if (because === 'elsewhere' && of.elsewhere)
    return `${of.reference}: ${whyElsewhere(of.elsewhere, account)}`;
  const said =
    because === 'lost'
      ? `the service does not find ${of.reference}, which ${of.state} there`
      : `asked again before ${reference} was sent, the service shows ${of.reference} as ${of.answer.status ?? 'something that contradicts ours'}`;
  return `${said}: sending ${reference} could pay twice`;
}
