import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { GoodRow } from '../../src/intake/rows.ts';
import { keptRows } from '../../src/intake/second-pass.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const chunk = [{ row: 2 } as GoodRow];

it.each([
  { bytes: 8 * 2 ** 20, kept: [chunk] },
  { bytes: 8 * 2 ** 20 + 1, kept: null },
])('keeps the rows of a file of $bytes bytes from its first chunk on, or none of them', ({ bytes, kept }) => {
  const path = join(temporaryFolder(), 'november.csv');
  writeFileSync(path, '');
  truncateSync(path, bytes);
  const rows = keptRows(path);
  rows.add(chunk);
  expect(rows.chunks()).toEqual(kept);
  expect(rows.first()).toBe(chunk);
});
