import { checkExpectation, collectionColumns, type Expectation } from '../core/domain/collection-rules.ts';
import { type FileItem, fileRows, hiddenIn, type RowJudge, repeatedReferences, short } from './file-rows.ts';
import type { Header, RequiredColumns } from './header.ts';
import type { ReadLimits } from './read.ts';

export type GoodExpectation = { row: number; cells: string[]; parsed: Expectation };

const wanted: RequiredColumns = {
  required: collectionColumns,
  missingFix: (column) => `add a column with the header ${column}`,
};

/** The rows of a file of expected collections. */
export function expectationRows(path: string, limits: ReadLimits): AsyncGenerator<FileItem<GoodExpectation>> {
  return fileRows(path, { wanted, limits }, judge);
}

function judge(header: Header): RowJudge<GoodExpectation> {
  const repeated = repeatedReferences();
  const hidden = hiddenIn(header);
  return (row, cells, tidied) => {
    const cell = (column: (typeof collectionColumns)[number]): string | undefined => {
      const i = header.at[column];
      return i === undefined ? undefined : (tidied[i] ?? '');
    };
    const problems = hidden(row, tidied);
    const checked = checkExpectation(cell);
    if (checked.kind === 'bad')
      problems.push(...checked.problems.map((one) => ({ row, ...one, value: short(one.value) })));
    problems.push(...repeated(row, cell('reference') ?? ''));
    return checked.kind === 'ok' && problems.length === 0
      ? { kind: 'good', good: { row, cells, parsed: checked.row } }
      : { kind: 'bad', problems };
  };
}
