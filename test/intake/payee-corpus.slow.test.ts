import { expect, it } from 'vitest';
import { fileOf, firstMonth, secondMonth } from './payee-months.ts';
import { setting } from './setting.ts';

const day = 86_400_000;

// A quick test runs a dozen of them: payees.test.ts.
it.each([true, false])(
  'P37: of 200 second months of 20 first ones, no changed account is missed (payee_id: %s)',
  async (ids) => {
    const sum = { months: 0, rows: 0, changed: 0, found: 0, missed: 0, false: 0, inherited: 0 };
    for (let first = 1; first <= 20; first++) {
      const s = await setting();
      const before = firstMonth(first, 120);
      const taken = await s.intake.takeIn(s.drop('november.csv', fileOf(before, 'N', { ids })), {
        origin: 'inbox',
      });
      expect(taken.kind).toBe('taken');
      await s.ledger.db.updateTable('payouts').set({ state: 'success' }).execute();
      s.clock.advance(30 * day);
      for (let second = 1; second <= 10; second++) {
        const { people, changed, inherited } = secondMonth(first * 100 + second, before, { ids });
        const file = s.drop(`december-${second}.csv`, fileOf(people, 'D', { ids }));
        const { compared, duplicates } = await s.intake.check(file);
        const named = new Set(
          (compared?.changes ?? []).flatMap(({ kind, row }) => (kind === 'account_changed' ? [row] : [])),
        );
        const found = [...changed].filter((row) => named.has(row)).length;
        const heir = compared?.changes.filter(
          ({ row, kind }) => row === inherited && kind !== 'amount_changed',
        );
        expect(heir?.map(({ kind }) => kind)).toEqual(inherited === 1 ? [] : ['name_changed']);
        sum.inherited += heir?.length ?? 0;
        sum.months += 1;
        sum.rows += people.length;
        sum.changed += changed.size;
        sum.found += found;
        sum.missed += changed.size - found;
        sum.false += named.size - found;
        expect(duplicates).toEqual([]);
      }
    }
    process.stdout.write(`payees, payee_id ${ids}: ${JSON.stringify(sum)}\n`);
    expect(sum.months).toBe(200);
    expect(sum.missed).toBe(0);
    expect(sum.inherited).toBeGreaterThan(190);
    expect(sum.false * 100).toBeLessThan(sum.rows - sum.changed);
  },
  300_000,
);
