import type { Role } from '../../../core/settings/settings-schema.ts';
import type { FindingKind } from '../../../findings/kinds.ts';
import { someNames } from '../../../words/who-may.ts';
import { hasRight } from '../../admin/access.ts';
import type { View } from './frame.ts';

/** The role of the people who decide about a kind on the desk. Of the others an operator takes care. */
export const deciders: Partial<Record<FindingKind, Role>> = {
  canary_failed: 'decide',
  discrepancy_open: 'decide',
  outcome_unknown: 'decide',
  payout_unpaid: 'decide',
  batch_held: 'decide',
  answer_awaited: 'decide',
  run_unsound: 'decide',
};

/**
 * Whether something is for the reader, and else for whom; `isMine` null: no role of the desk decides it. `may`: whether the
 * reader may, where the role alone does not say so.
 */
export function whose(
  view: View,
  role: Role | null,
  may?: boolean,
): { isMine: boolean | null; others: string } {
  const isMine = may ?? (role === null ? null : hasRight(view.caller, role));
  const isSaid = isMine === true || role === null || view.caller.kind !== 'token';
  return { isMine, others: isSaid ? '' : someNames(view.holders(role)) };
}
