import { growingPause } from '../../core/domain/pause.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Logger } from '../../core/runtime/logger.ts';
import { sharedNow } from '../../core/runtime/rates.sql.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { AlertChannel } from '../../core/storage/tables/alert-tables.ts';
import type { ChannelResult, SendMessage } from './channel.ts';
import { messageWords } from './message-words.ts';
import { type Claimed, claimMessages, finishMessages, giveBackMessages, hasDue } from './outbox.sql.ts';

const firstPauseMs = 60_000;
/** Pauses of 1, 2, 4 … 32 minutes and then of an hour: 30 tries take a day, 7 take an hour (P33: counted, not timed). */
const mostTries: Record<AlertChannel, number> = { webhook: 30, mail: 30, heartbeat: 7 };

/**
 * Takes messages from the outbox and sends them. A claim in the ledger decides which process sends one. A process that
 * dies between sending and recording leaves a message that is sent again: nobody can know better.
 *
 * Returns what sends all that is due, each channel on its own, until nothing is due or the signal aborts. What fails
 * waits. It throws what the ledger throws.
 */
export function createDelivery(deps: {
  ledger: Ledger;
  clock: Clock;
  config: Config;
  log: Pick<Logger, 'warn'>;
  worker: string;
  channels: Map<AlertChannel, SendMessage>;
}): (signal: AbortSignal) => Promise<void> {
  const { ledger, clock, config, log, worker: by, channels } = deps;
  const style = { timezone: config.reports.timezone, dashboardUrl: config.alerts.dashboardUrl };

  /** Sends everything that is due on a channel as one message. False: nothing was due, or it failed. */
  async function deliverOnce(
    channel: AlertChannel,
    send: SendMessage,
    signal: AbortSignal,
  ): Promise<boolean> {
    const due = { channel, by, nowMs: await sharedNow(ledger.db, clock.now()) };
    if (!(await hasDue(ledger.db, due))) return false;
    const claimed = await ledger.write((trx) => claimMessages(trx, due));
    const [first] = claimed;
    if (!first) return false;
    const contents = claimed.map(({ content }) => content);
    const wording = messageWords(contents, config.mode, style);
    const result = await send({ wording, id: `${ledger.id}.${first.id}`, signal });
    await record(channel, claimed, result);
    return result.kind === 'sent';
  }
  async function record(channel: AlertChannel, claimed: Claimed[], result: ChannelResult): Promise<void> {
    if (result.kind === 'failed' && result.problem === 'stopped')
      return ledger.write((trx) => giveBackMessages(trx, claimed, by));
    const at = new Date(await sharedNow(ledger.db, clock.now())).toISOString();
    const end =
      result.kind === 'sent'
        ? result
        : {
            ...result,
            // Null: that was the last try.
            pauseMs: (tries: number) =>
              tries >= mostTries[channel] ? null : growingPause(firstPauseMs, tries, result.retryAfterMs),
          };
    await ledger.write((trx) => finishMessages(trx, claimed, { channel, by, at, end }));
    if (result.kind === 'failed')
      log.warn(
        { channel, problem: result.problem, messages: claimed.length },
        'an alert could not be sent yet',
      );
  }
  return async (signal) => {
    const all = [...channels].map(async ([channel, send]) => {
      while (!signal.aborted && (await deliverOnce(channel, send, signal)));
    });
    await Promise.all(all);
  };
}
