import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../simulation/defects/defect.ts';
import { runPairs } from '../child.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A mistake that shows only where two things meet. `only`: parts of the names of the plays that have both. */
type Defect = { name: string; places: Place[]; only: string[]; invariant: RegExp };

const defects: Defect[] = [
  {
    name: 'lets an interrupted release go on beside a later hold',
    only: ['hold: releasing', 'verb: hold'],
    invariant: /P21/,
    places: [
      {
        file: 'src/core/ledger/hold-reasons.ts',
        find: `  const others = reasons.filter(({ kind }) => kind !== 'releasing');`,
        replace: `  const others = [...reasons];`,
      },
    ],
  },
  {
    name: 'sends again what comes back unsent of a batch that was cancelled meanwhile',
    only: ['verb: cancel', 'post: 429', 'at once'],
    invariant: /P21/,
    places: [
      {
        file: 'src/sending/decisions/cancel-unsent.sql.ts',
        find: `      if (isWhole && after === 0n) await keepReturned(trx, batch, true);`,
        replace: ``,
      },
      {
        file: 'src/sending/decisions/cancel-unsent.sql.ts',
        find: `await keepReturned(trx, batch, await mayComeBack(trx, batch));`,
        replace: `await mayComeBack(trx, batch);`,
      },
    ],
  },
  {
    name: 'lets a release take a changed row for approved',
    only: ['verb: release ', 'payee: changed'],
    // Whichever is seen first: a row that went, or `verify`, which names it too.
    invariant: /P37|verify agrees/,
    places: [
      {
        file: 'src/sending/holds.sql.ts',
        find: `    .where(sql<boolean>\`not \${rowWaits}\`)`,
        replace: ``,
      },
      {
        file: 'src/sending/holds.sql.ts',
        find: `    .$if(now.some(isOfRows), (query) => query.where('approval_needed', '=', 0n))`,
        replace: ``,
      },
      {
        file: 'src/sending/approved.sql.ts',
        find: ` and not \${rowWaits})\`;`,
        replace: `)\`;`,
      },
    ],
  },
  {
    name: 'asks the clock what another file has paid since',
    only: ['look: an older file pays since', 'at once'],
    invariant: /P23/,
    places: [
      {
        file: 'src/intake/later-likes.sql.ts',
        find: `coalesce(p.last_attempt_id, 0) > coalesce(n.last_attempt_id, 0)`,
        replace: `coalesce(p.submitted_at, '') > coalesce(n.submitted_at, '')`,
      },
    ],
  },
  {
    name: 'makes ready what comes back unsent of a batch that was held meanwhile',
    only: ['verb: hold ', 'post: 429', 'at once'],
    invariant: /P21/,
    places: [
      {
        file: 'src/sending/holds.sql.ts',
        find: `  const back = recorded.flatMap(({ payoutId, to }) => (to === 'ready' ? [payoutId] : []));`,
        replace: `  const back = recorded.flatMap(({ payoutId, to }) => (to === 'held' ? [payoutId] : []));`,
      },
    ],
  },
];

describe('a pair shows', () => {
  it.each(defects)('there is still a place to put the defect: $name', ({ places }) => {
    for (const { file, find } of places)
      expect(readFileSync(join(root, file), 'utf8').split(find)).toHaveLength(2);
  });

  it.each(defects)(
    'a product that $name',
    async ({ only, places, invariant }) => {
      const names = only.flatMap((one) => ['--only', one]);
      const { failed, run } = await runPairs(
        [...names, '--stop', '--seconds', '240', '--threads', '2'],
        places,
      );
      expect(failed?.invariant, `nothing was seen in ${run} plays`).toMatch(invariant);
    },
    600_000,
  );
});
