import { expect, it } from 'vitest';
import { custodyText } from '../../src/words/custody-words.ts';

const reason = { why: 'the ledger moved', advice: { kind: 'follow_move' as const, mark: 'l.db.mark' } };
type Why = Parameters<typeof custodyText>[0];

it.each<[Why, string]>([
  [{ kind: 'moved_on', why: 'it moved to b' }, 'it moved to b. Restore in that place: set ledger.url to it'],
  [
    { kind: 'flawed', file: 'b.db', flaw: { kind: 'archive' } },
    'b.db is an archive: it has closed months of a ledger, and is none itself: restore a backup of that ledger instead; nothing was changed',
  ],
  [
    { kind: 'flawed', file: 'b.db', flaw: { kind: 'newer', change: '"0999-later"' } },
    'b.db is of a newer version of Counterfoil (it has the change "0999-later"); use that version; nothing was changed',
  ],
  [
    { kind: 'no_room', folder: '/d', free: 1_048_577, need: 4_194_304 },
    '/d has 2 MiB free, and archiving may need 4 MiB for a time: free some space',
  ],
  [
    { kind: 'archive_differs', how: { kind: 'batches', archived: 1, of: 2 } },
    'the archive is not the same as the ledger (1 batches for 2): nothing was changed',
  ],
  [
    {
      kind: 'archive_differs',
      how: {
        kind: 'unsound',
        problem: { check: 'integrity', of: null, fact: { kind: 'database_broken', said: 'row 1' } },
      },
    },
    'the archive is not the same as the ledger (integrity: row 1): nothing was changed',
  ],
])('says why nothing was done: %j', (why, text) => {
  expect(custodyText(why)).toBe(text);
});

it('gives the way out with the reason', () => {
  expect(custodyText({ kind: 'moved_from_here', reason })).toMatch(/^the ledger moved: .*l\.db\.mark/);
  expect(custodyText({ kind: 'moved_before', reason })).toMatch(/^it was moved already: the ledger moved: /);
  const barrier = { why: 'it went back in time', advice: { kind: 'adopt' as const } };
  expect(custodyText({ kind: 'barrier', reason: barrier })).toBe(
    'it went back in time; counterfoil restore --adopt makes it safe to use. Until then nothing is archived',
  );
});
