import { CsvError, type Parser, parse } from 'csv-parse';
import { plainLines } from './plain-lines.ts';

/** What a piece of CSV came to: null while all is well, else the parser's code of what is wrong. */
type Failed = { code: string } | null;

const byteOrderMark = Buffer.from('\ufeff');

/**
 * A parser that is fed pieces and asked for the records they completed. Those before an error are kept: what is wrong
 * with them is told too, and the error's row is the one after them. Plain lines, as most files have them alone, are split
 * without csv-parse; from the first quote on it reads all the rest.
 */
export function csvRecords(options: { delimiter: string; maxRecordBytes: number }): {
  write(bytes: Buffer): Promise<Failed>;
  end(): Promise<Failed>;
  take(): string[][];
} {
  let records: string[][] = [];
  const lines = plainLines(options.delimiter, options.maxRecordBytes / 2);
  const begin = (): Parser => parserOf(options, (record) => records.push(record));
  let parser: Parser | null = null;
  let isStart = true;
  return {
    async write(bytes) {
      if (parser) return step(parser, bytes);
      const plain = lines.split(isStart ? withoutMark(bytes) : bytes);
      isStart = isStart && bytes.length === 0;
      records = records.length === 0 ? plain.records : records.concat(plain.records);
      if (plain.unread === null) return null;
      parser = begin();
      return step(parser, plain.unread);
    },
    async end() {
      if (parser) return step(parser, null);
      // The last line needs no end.
      parser = begin();
      return (await step(parser, lines.rest())) ?? step(parser, null);
    },
    take() {
      const taken = records;
      records = [];
      return taken;
    },
  };
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes.indexOf(byteOrderMark) === 0 ? bytes.subarray(byteOrderMark.length) : bytes;
}

function parserOf(
  options: { delimiter: string; maxRecordBytes: number },
  take: (record: string[]) => void,
): Parser {
  const parser = parse({
    delimiter: options.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: options.maxRecordBytes,
    on_record: (record: string[]) => {
      take(record);
      return null;
    },
  });
  // Each error comes through the callback of what caused it.
  parser.on('error', () => {});
  parser.resume();
  return parser;
}

/** Feeds the parser, or ends it; throws what is no fault of the text. */
function step(parser: Parser, bytes: Buffer | null): Promise<Failed> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => {
      if (!error) resolve(null);
      else if (error instanceof CsvError) resolve({ code: error.code });
      else reject(error);
    };
    if (bytes === null) parser.end(done);
    else parser.write(bytes, done);
  });
}
