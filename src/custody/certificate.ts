import { readDetail } from '../core/ledger/history.ts';
import type { Attempt, HistoryRow } from '../core/storage/tables/tables.ts';
import type { ProblemFact } from './ledger-problem.ts';

/**
 * The at-most-once certificate of one payout. It counts the sends, the decisions that ordered a second send, and the
 * sends proven not taken (P4). An attempt proven not sent is no send (P7). `problems` lists the sends that no decision
 * ordered.
 */
export type Certificate = {
  sends: number;
  decisions: number;
  notTaken: number;
  problems: ProblemFact<'sent_again'>[];
};

/** Events that prove that the service did not take an attempt; the first two are its own word. */
const notTaken = ['refused', 'turned_away', 'not_sent'];

/**
 * Walks a payout's history in order. An intent needs its own `retry` decision (P1, P4, P20) while an earlier send may
 * have been taken: accepted, unknown, in flight, or forgotten by a ledger that went back in time. `shown`: so many transfers
 * of it the service shows. Where these are more than the sends that it may have taken by its own word, that word proves
 * nothing (P8).
 */
export function certify(
  history: readonly Pick<HistoryRow, 'seq' | 'at' | 'event' | 'from_state' | 'to_state' | 'detail'>[],
  attempts: readonly Pick<Attempt, 'id' | 'outcome' | 'ended_at'>[],
  shown = 0,
): Certificate {
  const byItsWord = walk(history, attempts, false);
  const taken = byItsWord.sends - byItsWord.notTaken;
  return shown > taken ? walk(history, attempts, true) : byItsWord;
}

/** `isRefuted`: the service took a send that it said it did not take. */
function walk(
  history: Parameters<typeof certify>[0],
  attempts: Parameters<typeof certify>[1],
  isRefuted: boolean,
): Certificate {
  const certificate: Certificate = { sends: 0, decisions: 0, notTaken: 0, problems: [] };
  const mayBeTaken = new Set<string>();
  let granted = 0;
  for (const { seq, at, event, from_state, to_state, detail } of history) {
    if (event === 'intent') {
      certificate.sends += 1;
      if (granted > 0) granted -= 1;
      else if (mayBeTaken.size > 0) {
        certificate.problems.push({ kind: 'sent_again', at, seq, refuted: isRefuted });
      }
      mayBeTaken.add(attemptOf(detail) ?? `entry ${seq}`);
    } else if (notTaken.includes(event)) {
      if (isRefuted && event !== 'not_sent') continue;
      const ended = attempts.find(
        (a) => a.outcome === event && a.ended_at === at && mayBeTaken.has(a.id.toString()),
      );
      if (!ended || !mayBeTaken.delete(ended.id.toString())) continue;
      if (event === 'not_sent') certificate.sends -= 1;
      else certificate.notTaken += 1;
    } else if (event === 'retry' && from_state === 'unknown' && to_state !== 'unknown') {
      certificate.decisions += 1;
      // Decisions do not add up: each orders only the next send.
      granted = 1;
    } else if (event === 'adopted' && to_state === 'unknown' && from_state !== 'unknown') {
      mayBeTaken.add('forgotten');
      granted = 0;
    } else if (event === 'doubted' && to_state === 'unknown') {
      granted = 0;
    }
  }
  return certificate;
}

function attemptOf(detail: string): string | undefined {
  const { last_attempt_id: id } = readDetail(detail);
  return typeof id === 'number' ? id.toString() : undefined;
}
