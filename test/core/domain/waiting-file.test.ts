import { expect, it } from 'vitest';
import { waitingWhy, writersText } from '../../../src/core/domain/waiting-file.ts';

const writers = [1, 2, 3, 4].map((pid) => ({ pid, command: pid === 2 ? '' : `scp ${pid}` }));

it('names up to three processes that write a file', () => {
  expect(writersText(writers.slice(0, 3))).toBe('process 1 (scp 1), process 2, process 3 (scp 3)');
  expect(writersText(writers)).toBe('process 1 (scp 1), process 2, process 3 (scp 3) and others');
  expect(waitingWhy({ kind: 'open', writers: writers.slice(0, 1) })).toBe(
    'it is open for writing by process 1 (scp 1)',
  );
});
