import { expect, it } from 'vitest';
import type { Advice } from '../../src/core/domain/advice.ts';
import type { RowFault } from '../../src/sending/decisions/retry-findings.ts';
import { adviceText } from '../../src/words/advice-text.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';

const reference = 'PAY-0001';
/** Advice whose first command asks the service, which may never answer so. */
const asking: Advice[] = [
  { kind: 'list_payer', evidence: '0a' },
  { kind: 'list_unproven', evidence: '0a' },
  { kind: 'list_or_settle', reference, unknown: true },
  { kind: 'list_or_settle', reference, unknown: false },
  { kind: 'confirm_failure', reference, taken: 1, byList: false },
  { kind: 'confirm_failure', reference, taken: 2, byList: true },
  { kind: 'ask_then_release', reference },
  { kind: 'decide_again', reference, relist: true },
  { kind: 'clear_predecessor', reference, of: 'PAY-0000', by: 'list' },
  { kind: 'clear_predecessor', reference, of: 'PAY-0000', by: 'listed' },
  { kind: 'clear_predecessor', reference, of: 'PAY-0000', by: 'answer' },
];
/** What a person can do whatever the service answers. */
const end = /--note|counterfoil settle|under a new reference in a new file|[Rr]emove the row/;

it.each(asking.map((advice) => [JSON.stringify(advice), advice] as const))(
  'P32: beside the question to the service, the way out %s names an end that needs no answer',
  (_, advice) => expect(adviceText(advice)).toMatch(end),
);

const reason = { why: 'nothing confirms now that it failed', advice: null };
const faults: RowFault[] = [
  { kind: 'unanswered', of: reference, asking: 'asked' },
  { kind: 'not_now', reason, confirm: { batch: 'b-1', removable: true } },
];

it.each(faults.map((fault) => [fault.kind, fault] as const))(
  'P32: what to do with a row, %s, names an end too',
  (_, fault) => expect(rowFaultText(fault).fix).toMatch(end),
);
