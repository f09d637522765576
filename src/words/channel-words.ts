import { counted } from '../core/domain/counted.ts';
import type { ChannelStanding } from '../findings/finding.ts';

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
