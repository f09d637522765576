import type { App } from '../../../app/app.ts';
import { daemonStanding, isIdle, jobLabel, jobProblem, jobsStanding } from '../jobs-standing.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

/** Checks that scheduled jobs did their work last time, and that a daemon runs them. */
export async function checkSchedules(app: App<'looking'>): Promise<DoctorCheck> {
  const daemon = await daemonStanding(app);
  const all = await jobsStanding(app, { daemon, idle: await isIdle(app, daemon) });
  const jobs = all.filter(({ expression }) => expression.trim() !== '');
  if (jobs.length === 0) return well('schedules', 'all are off');
  const problems = jobs.flatMap((job) => {
    const problem = jobProblem(job);
    return problem === null ? [] : [`${jobLabel(job)}: ${problem}`];
  });
  if (problems.length > 0)
    return wrong(
      'schedules',
      problems.join('; '),
      'remove the cause, then counterfoil serve tries again, or run the command by hand: counterfoil reconcile, submit or report',
    );
  if (!daemon.running && !daemon.elsewhere)
    return skipped('schedules', 'no serve runs, and whatever runs the commands instead is not seen here');
  const last = jobs.map((job) => `${jobLabel(job)} ${job.last_result?.kind ?? 'not run yet'}`);
  return well('schedules', last.join(', '));
}
