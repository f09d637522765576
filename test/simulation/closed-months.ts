import type { App } from '../../src/app/app.ts';
import { decimalToMinor } from '../../src/core/domain/money.ts';
import type { Town } from './town.ts';

/** The month that the office closes: its figures never change, and they are those of which today begins. */
export type ClosedMonths = {
  /** What `close-period` does. A month that is not over, or is closed already, is refused. */
  close(app: App): Promise<void>;
  judge(): void;
  /** What the closed month has as paid, in minor units of NGN. */
  netPaid(): bigint;
};

export function createClosedMonths({ world, inspector }: Town, month: string): ClosedMonths {
  /** The rows of the month when it was closed. */
  let closedAs: string | null = null;
  const rows = (): string[] =>
    inspector
      .rows<{ cells: string }>(
        'select cells from period_rows where month = ? order by sheet, position',
        month,
      )
      .map(({ cells }) => cells);
  const isClosed = (): boolean => inspector.rows('select 1 from periods where month = ?', month).length > 0;

  function judge(): void {
    // An old copy may have been put back that does not know it.
    if (!isClosed()) closedAs = null;
    else if (closedAs === null) closedAs = rows().join('\n');
    else {
      world.coverage.count('paper: after a month was closed');
      if (rows().join('\n') !== closedAs) world.violate('P30: a closed month never changes', month);
    }
  }
  return {
    async close(app) {
      await app.applyWebhooks();
      const closed = await app.reporting.closePeriod(month, app.clock.iso(), 'Ada');
      if (closed.kind === 'refused') return;
      // It was open: the ledger may have gone back to before an earlier close.
      closedAs = null;
      world.coverage.count('paper: a month closed');
      world.trace(`${month} is closed`);
      judge();
      await app.reporting.writePeriod(month);
    },
    judge,
    netPaid() {
      const cells = isClosed() ? rows().map((row): string[] => JSON.parse(row)) : [];
      const paid = cells.find(([currency, line]) => currency === 'NGN' && line === 'net_paid');
      return decimalToMinor(paid?.[3] ?? '0', 'NGN') ?? 0n;
    },
  };
}
