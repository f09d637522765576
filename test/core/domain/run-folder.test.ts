import { expect, it } from 'vitest';
import { runFolder, runOfReport } from '../../../src/core/domain/run-folder.ts';

it('finds the run of a path in its folder, and none of another path', () => {
  const [run, again] = ['20261121T120000Z', '20261121T120000Z-2'];
  expect([runFolder(run), `${runFolder(again)}/report.html`].map(runOfReport)).toEqual([run, again]);
  expect(['reconciliation-1', `a/${runFolder(run)}`, `${runFolder(run)}x`].map(runOfReport)).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});
