import { setTimeout as sleep } from 'node:timers/promises';
import type { DrillHome } from './home.ts';
import { rawRequest } from './raw-request.ts';
import { evil, ours, portOf, type Try } from './try.ts';

/** HTML in every column of a batch that comes in by the inbox, read back on the pages. */
export async function fields(home: DrillHome): Promise<Try[]> {
  const columns = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';
  const good = ['EVIL-1', '1000000001', evil, '058', '10.00', 'NGN', evil, evil];
  home.drop(`${evil.replaceAll('/', '')}.csv`, `${columns}\n${good.join(',')}\n`);
  for (let n = 0; n < 60 && (await home.run('show', 'EVIL-1')).code !== 0; n++) await sleep(500);
  const tries: Try[] = [];
  for (const path of [
    '/',
    '/batches',
    '/payouts/EVIL-1',
    `/find?q=${encodeURIComponent(evil)}`,
    `/discrepancies?kind=${encodeURIComponent(evil)}`,
  ]) {
    const answer = await rawRequest(portOf(home), `GET ${path}`, { headers: [ours] });
    const isText = !answer.body.includes('<img') && answer.status > 0;
    const isSeen = path !== '/payouts/EVIL-1' || answer.body.includes('&#60;img');
    tries.push({ what: `HTML of a real file on ${path.slice(0, 30)}`, answer, isRefused: isText && isSeen });
  }
  return tries;
}

/** Guesses from many addresses: at most a hundred a minute from all of them. */
export async function guesses(home: DrillHome): Promise<Try[]> {
  const statuses: number[] = [];
  const guess = async (n: number): Promise<void> => {
    const given = [`authorization: Bearer guess-${n}`];
    const from = `127.0.7.${1 + (n % 65)}`;
    statuses.push((await rawRequest(portOf(home), 'GET /', { headers: given, from })).status);
  };
  for (let n = 0; n < 130; n += 26) await Promise.all(Array.from({ length: 26 }, (_, at) => guess(n + at)));
  const count = (status: number): number => statuses.filter((one) => one === status).length;
  const answer = { status: statuses.at(-1) ?? 0, headers: '', body: '' };
  const what = `130 guesses from 65 addresses: ${count(401)} × 401, ${count(429)} × 429`;
  return [{ what, answer, isRefused: count(401) <= 100 && count(401) + count(429) === 130 }];
}
