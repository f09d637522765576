import { CsvError, type Parser, parse } from 'csv-parse';
import { plainLines } from './plain-lines.ts';

/** The parser's error code for a piece of CSV; null while all is well. */
type Fault = { code: string } | null;

const byteOrderMark = Buffer.from('\ufeff');

/**
 * A parser that takes pieces of CSV and returns the complete records. Records before an error are kept, so
 * that their problems are reported too; the error is in the row after them. Lines without quotes, which most
 * files have alone, are split without csv-parse. From the first quote on csv-parse reads the rest.
 */
export function csvRecords(options: { delimiter: string; maxRecordBytes: number }): {
  write(bytes: Buffer): Promise<Fault>;
  end(): Promise<Fault>;
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
      // The last line needs no line end.
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
/** Line ends around a record, and the bytes that the parser looks ahead. */
const slack = 8;

/**
 * A csv-parse parser with a limit of bytes a record. The library's own limit counts only the text in cells,
 * so a record of delimiters and quotes alone could outgrow an array.
 */
function boundedParser(
  options: { delimiter: string; maxRecordBytes: number },
  take: (record: string[]) => void,
): { step(bytes: Buffer | null): Promise<Fault> } {
  const most = options.maxRecordBytes + slack;
  let fed = 0;
  let ended = 0;
  let failed: Fault = null;
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
  // Each error reaches the callback of the write that caused it.
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

/** Feeds the parser, or ends it. Throws errors that are not about the text. */
function step(parser: Parser, bytes: Buffer | null): Promise<Fault> {
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
