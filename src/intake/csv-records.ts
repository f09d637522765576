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
  let parser: ReturnType<typeof boundedParser> | null = null;
  let isStart = true;
  return {
    async write(bytes) {
      if (parser) return parser.step(bytes);
      const plain = lines.split(isStart ? withoutMark(bytes) : bytes);
      isStart = isStart && bytes.length === 0;
      records = records.length === 0 ? plain.records : records.concat(plain.records);
      if (plain.unread === null) return null;
      parser = boundedParser(options, (record) => records.push(record));
      return parser.step(plain.unread);
    },
    async end() {
      if (parser) return parser.step(null);
      // The last line needs no end.
      parser = boundedParser(options, (record) => records.push(record));
      return (await parser.step(lines.rest())) ?? parser.step(null);
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

const tooLong = { code: 'CSV_MAX_RECORD_SIZE' };
/** The line ends around a record, and what the parser looks ahead. */
const slack = 8;

/**
 * A parser of records of at most so many bytes. csv-parse counts what stands in the cells alone: of delimiters and quotes
 * it would take more than an array holds.
 */
function boundedParser(
  options: { delimiter: string; maxRecordBytes: number },
  take: (record: string[]) => void,
): { step(bytes: Buffer | null): Promise<Failed> } {
  const most = options.maxRecordBytes + slack;
  let fed = 0;
  let ended = 0;
  let failed: Failed = null;
  const parser = parse({
    delimiter: options.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: options.maxRecordBytes,
    on_record: (record: string[], { bytes }: { bytes: number }) => {
      if (bytes - ended > most) failed = tooLong;
      ended = bytes;
      if (!failed) take(record);
      return null;
    },
  });
  // Each error comes through the callback of what caused it.
  parser.on('error', () => {});
  parser.resume();
  return {
    async step(bytes) {
      fed += bytes?.length ?? 0;
      const fault = await step(parser, bytes);
      if (!failed && !fault && bytes !== null && fed - ended > most) failed = tooLong;
      return failed ?? fault;
    },
  };
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
