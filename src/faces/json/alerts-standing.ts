import type { App } from '../../app/app.ts';
import { channelNames, ownStandings } from '../../findings/outbox-standing.sql.ts';
import { channelTrouble } from '../../words/channel-words.ts';

/** How the outbox stands, for `status` and `doctor`. Channels that are off are left out. */
export async function alertsStanding({ config, ledger }: App<'looking'>) {
  const standings = await ownStandings(ledger.db, config);
  return {
    problems: standings.flatMap((one) => channelTrouble(one) ?? []),
    json: {
      channels: channelNames(config),
      outbox: standings.map(({ channel, waiting, failing, gaveUp, problem }) => {
        return { channel, waiting, failing, gave_up: gaveUp, problem };
      }),
    },
  };
}
