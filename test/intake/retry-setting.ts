import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { batchOf, csv, head, row, type Setting, setting } from './setting.ts';

export const now = 'intake: { settle_seconds: 0 }';

/** A batch of payouts that the service refused, and a file that pays them again. */
export async function refused(yaml = '', ...references: string[]): Promise<Setting> {
  const s = await setting(yaml);
  const rows = references.map((reference, i) => row(reference, String(100 + i)));
  batchOf(await s.intake.takeIn(s.drop('first.csv', csv(...rows)), { origin: 'inbox' }));
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), references.length))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.refused());
  return s;
}

export async function idOf(s: Setting, reference: string): Promise<bigint> {
  const query = s.ledger.db.selectFrom('payouts').select('id').where('reference', '=', reference);
  return (await query.executeTakeFirstOrThrow()).id;
}

export function decisionsOf(s: Setting) {
  const rules = { referencePrefix: '', payoutLimit: {} };
  return createDecisions({ ledger: s.ledger, clock: s.clock, rules, say: rowFaultText });
}

/** A row that pays `of` again under `reference`, on the evidence of now unless another is given. */
export async function again(
  s: Setting,
  of: string,
  patch: { reference?: string; amount?: string; account?: string; evidence?: string } = {},
): Promise<string> {
  const { reference = `${of}-R2`, amount = '100', account } = patch;
  const found = await decisionsOf(s).find([of]);
  const { digest } = await decisionsOf(s).weigh(
    found.payouts.map(({ id }) => id),
    s.clock.iso(),
  );
  return `${row(reference, amount, account)},${of},${patch.evidence ?? digest}`;
}

export async function successors(s: Setting): Promise<string[]> {
  const query = s.ledger.db.selectFrom('payouts').select('reference').where('successor_of', 'is not', null);
  return (await query.orderBy('id').execute()).map(({ reference }) => reference);
}

export const file = (...rows: string[]): string =>
  `${[`${head},Retry Of,retry_evidence`, ...rows].join('\n')}\n`;
export const take = (s: Setting, content: string) =>
  s.intake.takeIn(s.drop('failed.csv', content), { origin: 'inbox' });
