import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { historyEvent, settleEvents } from '../../../src/core/domain/history-event.ts';
import { sources } from '../../../src/core/domain/payout.ts';
import { isSettledAs, restsOnAny } from '../../../src/core/ledger/stored-sets.ts';
import { makeLedger } from '../../support/ledger.ts';

it('a decision that evidence refused is none about the state that the payout kept', async () => {
  const { db } = await makeLedger();
  for (const event of [...Object.values(settleEvents), 'retry'])
    for (const state of ['success', 'failed', 'returned']) {
      const { rows } = await sql<{
        is: bigint;
      }>`select case when ${isSettledAs('p.state')} then 1 else 0 end as "is"
        from (select ${state} as state) p, (select ${event} as event) h`.execute(db);
      expect([event, state, rows[0]?.is]).toEqual([event, state, event === `settle as ${state}` ? 1n : 0n]);
    }
});

it('evidence is found by its sources, since no name of one is a part of another', async () => {
  const { db } = await makeLedger();
  for (const source of sources) {
    const others = sources.filter((one) => one !== source).join('+');
    const { rows } = await sql<{ own: bigint; others: bigint }>`select
      case when ${restsOnAny('o.evidence', [source])} then 1 else 0 end as own,
      case when ${restsOnAny('p.evidence', [source])} then 1 else 0 end as others
      from (select ${source} as evidence) o, (select ${others} as evidence) p`.execute(db);
    expect([source, rows[0]]).toEqual([source, { own: 1n, others: 0n }]);
  }
});

it('P27: what was paid again keeps the stored word of its event, which is hashed into its history', () => {
  expect(historyEvent({ kind: 'replaced', by: 'R-1-R2' })).toBe('succeeded');
});
