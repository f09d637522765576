import type { Config } from './settings.ts';

/** Jobs that work in the folders of a host, such as its inbox: each host runs them for itself. */
export const hostJobs: readonly string[] = ['intake', 'report'];

export function isHostJob(job: string): boolean {
  return hostJobs.includes(job);
}

/** Every scheduled job by its name in the ledger, with its expression; an empty one is off. */
export function scheduleList(schedules: Config['schedules']): { job: string; expression: string }[] {
  return [
    { job: 'intake', expression: schedules.intake },
    { job: 'submit', expression: schedules.submit },
    { job: 'follow_up', expression: schedules.followUp },
    { job: 'reconcile', expression: schedules.reconcile },
    { job: 'reconcile_full', expression: schedules.reconcileFull },
    { job: 'report', expression: schedules.report },
  ];
}
