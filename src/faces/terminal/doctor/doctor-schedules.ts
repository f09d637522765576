import type { App } from '../../../app/app.ts';
import type { Scene } from '../../../findings/finders.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { type DaemonStanding, jobLabel, jobsStanding } from '../../json/jobs-standing.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

/** Checks that scheduled jobs did their work last time, and that a daemon runs them. */
export async function checkSchedules(
  app: App<'looking'>,
  daemon: DaemonStanding,
  scene: Scene,
): Promise<DoctorCheck> {
  const all = await jobsStanding(app, daemon, scene);
  const jobs = all.filter(({ expression }) => expression.trim() !== '');
  if (jobs.length === 0) return well('schedules', 'all are off');
  const wrongs = jobs.flatMap((job) => {
    if (job.finding === null) return [];
    const { problem, fix } = findingWords[job.finding.kind].doctor(job.finding);
    return [{ problem: `${jobLabel(job)}: ${problem}`, fix }];
  });
  const [first] = wrongs;
  if (first) return wrong('schedules', wrongs.map(({ problem }) => problem).join('; '), first.fix);
  if (!daemon.running && !daemon.elsewhere)
    return skipped('schedules', 'no serve runs, and whatever runs the commands instead is not seen here');
  const last = jobs.map((job) => `${jobLabel(job)} ${job.last_result?.kind ?? 'not run yet'}`);
  return well('schedules', last.join(', '));
}
