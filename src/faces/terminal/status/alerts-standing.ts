import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { openChannels } from '../../alerts/channels.ts';
import { type ChannelStanding, channelStandings } from '../../alerts/outbox.sql.ts';

/** How the outbox stands, for `status` and `doctor`. Channels that are off are left out. */
export async function alertsStanding({ config, ledger }: App<'looking'>) {
  const channels = [...openChannels(config).keys()];
  const standings = channels.length === 0 ? [] : await channelStandings(ledger.db);
  const own = standings.filter(({ channel }) => channels.includes(channel));
  const problems = own.flatMap((one) => problemOf(one) ?? []);
  return {
    problems,
    /** Messages were given up: somebody was not told. */
    lost: own.some(({ gaveUp }) => gaveUp > 0),
    json: {
      channels,
      outbox: own.map(({ channel, waiting, failing, gaveUp, problem }) => {
        return { channel, waiting, failing, gave_up: gaveUp, problem };
      }),
    },
  };
}

function problemOf({ channel, waiting, failing, gaveUp, problem }: ChannelStanding): string | null {
  if (failing === 0 && gaveUp === 0) return null;
  const counts = [
    ...(gaveUp > 0 ? [`${counted(gaveUp, 'message')} could not be sent in a day`] : []),
    ...(waiting > 0 ? [`${counted(waiting, 'message waits', 'messages wait')} to be sent again`] : []),
  ];
  return `${channel}: ${counts.join(', ')} (last failure: ${problem ?? 'unknown'})`;
}
