import { expect, it } from 'vitest';
import { createIgnoredFiles } from '../../../src/core/runtime/ignored-files.ts';

it('logs a file that intake leaves once, and again when it is left for another reason or came back', () => {
  const said: string[] = [];
  const log = { warn: (fields: { file: string }, text: string) => void said.push(`${fields.file}: ${text}`) };
  const onIgnored = createIgnoredFiles(log);
  const note = { name: 'note.txt', why: 'its name does not end in .csv; rename it if it is a batch' };
  for (const ignored of [
    [note],
    [note],
    [{ ...note, why: 'it is a link; put the file itself here' }],
    [],
    [note],
  ])
    onIgnored(ignored);
  expect(said).toEqual([
    `note.txt: left in the inbox: ${note.why}`,
    'note.txt: left in the inbox: it is a link; put the file itself here',
    `note.txt: left in the inbox: ${note.why}`,
  ]);
});
