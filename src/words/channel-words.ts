import { counted } from '../core/domain/counted.ts';
import type { ChannelStanding, Finding } from '../findings/finding.ts';

/** How a channel of alerts stands where something fails or was given up; else null. */
export function channelTrouble({
  channel,
  waiting,
  failing,
  gaveUp,
  problem,
}: ChannelStanding): string | null {
  if (failing === 0 && gaveUp === 0) return null;
  const counts = [
    ...(gaveUp > 0 ? [`${counted(gaveUp, 'message')} could not be sent in a day`] : []),
    ...(waiting > 0 ? [`${counted(waiting, 'message waits', 'messages wait')} to be sent again`] : []),
  ];
  return `${channel}: ${counts.join(', ')} (last failure: ${problem ?? 'unknown'})`;
}

/** How events stand that `events.url` does not get. */
export function eventTrouble({ facts: { gaveUp, problem } }: Finding<'events_undelivered'>) {
  const waits = `the next event for events.url has waited for more than 15 minutes${problem === null ? '' : ` (${problem})`}`;
  const lost = `${counted(gaveUp, 'event')} could not be delivered to events.url in three days: its program must read them with GET /api/v1/events`;
  return {
    problem: gaveUp > 0 ? lost : waits,
    fix: 'correct events.url or its server, and run serve: what waits is posted again by itself',
  };
}

/** What the operator's own server leaves undecided. */
export function undecidedTrouble({ subject, since, facts }: Finding<'approval_unanswered'>) {
  const why = facts.problem === null ? '' : ` (${facts.problem})`;
  return {
    problem: `the server of submission.approval_url was asked about ${subject} at ${since}, and has not decided${why}`,
    fix: `see that it answers as docs/two-person-approval.md says, or decide by hand: counterfoil approve ${subject}`,
  };
}
