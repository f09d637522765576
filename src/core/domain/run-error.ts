import type { Mode } from './payout.ts';
import type { ListStanding } from './verdict.ts';

type Run = { list: ListStanding; trouble?: string };

/** True for a run that could read no list, and so compared nothing. */
export function hasNoList({ list }: Pick<Run, 'list'>): boolean {
  return list === 'unread';
}

/** Says why a run did not do its work, and what to check; undefined for one that did, whatever it found. */
export function runError(
  { mode, service }: { mode: Mode; service: { baseUrl: string } },
  run: Run,
  interrupted: boolean,
): string | undefined {
  if (!hasNoList(run)) return interrupted ? 'interrupted; run reconcile again' : undefined;
  if (interrupted) return 'interrupted before the list was read; run reconcile again';
  const trouble = run.trouble ?? '';
  const refused = /refused the key/.test(trouble);
  const [what, check] = refused
    ? [`the service refused the ${mode} key`, `COUNTERFOIL_${mode.toUpperCase()}_SECRET_KEY`]
    : ['the service gave no list', `the network and service.base_url, ${service.baseUrl}`];
  return `${what}: nothing was compared, and no payouts were marked missing. Check ${check}, then run reconcile again (${plainTrouble(trouble)})`;
}

/** The usual failures of a connection, by the name that the runtime gives them. */
const failures: readonly [RegExp, string][] = [
  [/ECONNREFUSED/, 'connection refused'],
  [/ENOTFOUND|EAI_AGAIN/, 'no such host'],
  [/ECONNRESET|UND_ERR_SOCKET/, 'the connection broke'],
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|aborted due to timeout/, 'no answer came in time'],
];

/** What went wrong with the network, in plain words with the address if there is one; other text is unchanged. */
export function plainTrouble(trouble: string): string {
  const [, words] = failures.find(([sign]) => sign.test(trouble)) ?? [];
  if (words === undefined) return trouble;
  const [address] = /[\w.[\]:-]+:\d+(?=\W*$)/.exec(trouble) ?? [];
  return address === undefined ? words : `${words}, ${address}`;
}
