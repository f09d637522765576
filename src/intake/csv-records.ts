import { CsvError, parse } from 'csv-parse';

/** What a piece of CSV came to: null while all is well, else the parser's code of what is wrong. */
type Failed = { code: string } | null;

/**
 * A parser that is fed pieces and asked for the records they completed. Those before an error are kept: what is wrong
 * with them is told too, and the error's row is the one after them.
 */
export function csvRecords(options: { delimiter: string; maxRecordBytes: number }): {
  write(bytes: Buffer): Promise<Failed>;
  end(): Promise<Failed>;
  take(): string[][];
} {
  let records: string[][] = [];
  const parser = parse({
    delimiter: options.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: options.maxRecordBytes,
    bom: true,
    on_record: (record: string[]) => {
      records.push(record);
      return null;
    },
  });
  // Each error comes through the callback of what caused it.
  parser.on('error', () => {});
  parser.resume();
  const step = (work: (done: (error?: Error | null) => void) => void): Promise<Failed> =>
    new Promise((resolve, reject) =>
      work((error) => {
        if (!error) resolve(null);
        else if (error instanceof CsvError) resolve({ code: error.code });
        else reject(error);
      }),
    );
  return {
    write: (bytes) => step((done) => parser.write(bytes, done)),
    end: () => step((done) => parser.end(done)),
    take() {
      const taken = records;
      records = [];
      return taken;
    },
  };
}
