import type { Config } from './settings.ts';

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
