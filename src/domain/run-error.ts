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
  const refused = /refused the key/.test(run.trouble ?? '');
  const [what, check] = refused
    ? [`the service refused the ${mode} key`, `COUNTERFOIL_${mode.toUpperCase()}_SECRET_KEY`]
    : ['the service gave no list', `the network and service.base_url, ${service.baseUrl}`];
  return `${what}: nothing was compared, and no payouts were marked missing. Check ${check}, then run reconcile again (${run.trouble})`;
}
