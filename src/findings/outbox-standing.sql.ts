import type { Config } from '../core/settings/settings.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { AlertChannel } from '../core/storage/tables/alert-tables.ts';
import { type ChannelStanding, type Finding, plainFinding } from './finding.ts';

/** The channels of this configuration. */
export function channelNames({ alerts }: Pick<Config, 'alerts'>): AlertChannel[] {
  const { webhookUrl: webhook, smtpUrl: mail, heartbeatUrl: heartbeat } = alerts;
  const urls = { webhook, mail, heartbeat };
  return (['webhook', 'mail', 'heartbeat'] as const).filter((name) => urls[name] !== '');
}

/** The channels of this configuration that have messages waiting, or gave some up since they last worked. */
export async function ownStandings(db: Db | Trx, config: Pick<Config, 'alerts'>): Promise<ChannelStanding[]> {
  const own = channelNames(config);
  return own.length === 0 ? [] : (await channelStandings(db)).filter(({ channel }) => own.includes(channel));
}

/** The channels that gave messages up: somebody was not told. */
export function lostMessages(standings: readonly ChannelStanding[]): Finding<'message_lost'>[] {
  const count = standings.reduce((sum, { gaveUp }) => sum + gaveUp, 0);
  return count === 0 ? [] : [{ ...plainFinding('message_lost', '', count), facts: { standings } }];
}

/** Every channel that has had messages, in the order of the alphabet. */
async function channelStandings(db: Db | Trx): Promise<ChannelStanding[]> {
  const rows = await db
    .selectFrom('alert_messages as m')
    .select(['m.channel', 'm.state', 'm.tries', 'm.problem'])
    .where('m.state', '<>', 'sent')
    .where((eb) =>
      eb.or([
        eb('m.state', '=', 'due'),
        eb.not(
          eb.exists(
            eb
              .selectFrom('alert_messages as later')
              .select('later.id')
              .where('later.state', '=', 'sent')
              .whereRef('later.channel', '=', 'm.channel')
              .whereRef('later.id', '>', 'm.id'),
          ),
        ),
      ]),
    )
    .where((eb) => eb.or([eb('m.problem', 'is', null), eb('m.problem', '<>', 'channel_off')]))
    .orderBy('m.channel')
    .orderBy('m.id')
    .execute();
  return [...Map.groupBy(rows, ({ channel }) => channel)].map(([channel, own]) => {
    const waiting = own.filter(({ state }) => state === 'due');
    return {
      channel,
      waiting: waiting.length,
      failing: waiting.filter(({ problem }) => problem !== null).length,
      gaveUp: own.length - waiting.length,
      problem: own.findLast(({ problem }) => problem !== null)?.problem ?? null,
    };
  });
}
