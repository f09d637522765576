import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

const decoders = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/**
 * Returns a reply's body without its content coding: some servers compress although they are asked not to. An unknown
 * coding is left as it is. Throws for a broken body, and for one of more than `maxBytes`.
 */
export function decodeBody(
  body: Buffer,
  { coding, maxBytes }: { coding: string | string[] | undefined; maxBytes: number },
): Buffer {
  const name = typeof coding === 'string' ? coding.trim().toLowerCase() : '';
  const decode = decoders.get(name);
  return decode ? decode(body, { maxOutputLength: maxBytes }) : body;
}
