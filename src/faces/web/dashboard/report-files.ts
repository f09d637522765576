import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { sourceOf } from '../kit/frame.ts';
import { indexScript } from '../report/index-script.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** What a report may do in a browser: show itself, and search its own list. */
const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src ${sourceOf(indexScript)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type OpenReport = { handle: FileHandle; isPage: boolean; bytes: number; headers: Record<string, string> };

/**
 * Opens a file of the reports folder. Undefined for a name that leads out of the folder or through a link. Undefined
 * too for a hidden file, a folder, a device, and a kind that Counterfoil does not write. The caller closes it.
 */
export async function openReport(reports: string, path: string): Promise<OpenReport | undefined> {
  const parts = path.split('/');
  const type = types[extname(path)];
  if (type === undefined || !parts.every(isName)) return undefined;
  try {
    const root = await realpath(reports);
    const wanted = join(root, ...parts);
    // Where a link stands anywhere on the way, the two differ.
    if ((await realpath(wanted)) !== wanted || !wanted.startsWith(root + sep)) return undefined;
    const handle = await open(wanted, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await handle.stat();
    const isPage = type === types['.html'];
    const headers = headersOf(type, parts.at(-1) ?? '');
    if (stat.isFile()) return { handle, isPage, bytes: stat.size, headers };
    await handle.close();
    return undefined;
  } catch {
    return undefined;
  }
}

function isName(part: string): boolean {
  return part !== '' && !part.startsWith('.') && !/[\\\0:]/.test(part);
}

function headersOf(type: string, name: string): Record<string, string> {
  const isPage = type.startsWith('text/html');
  return {
    'content-type': type,
    'content-security-policy': isPage ? policy : "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    ...(!isPage && { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }),
  };
}
