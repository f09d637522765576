import type { Traces } from '../../core/domain/trace.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { AlertChannel } from '../../core/storage/tables/alert-tables.ts';
import type { SendMessage } from './channel.ts';
import { createHeartbeat, createWebhook } from './http-channel.ts';
import { createMail } from './mail-channel.ts';

/** The channels of this configuration; an empty one is off. */
export function openChannels(
  { alerts }: Pick<Config, 'alerts'>,
  traces?: Traces,
): Map<AlertChannel, SendMessage> {
  const { webhookUrl, smtpUrl, smtpPassword, mailFrom, mailTo, heartbeatUrl } = alerts;
  const channels = new Map<AlertChannel, SendMessage>();
  if (webhookUrl !== '') channels.set('webhook', createWebhook(webhookUrl, traces));
  if (smtpUrl !== '')
    channels.set('mail', createMail({ url: smtpUrl, password: smtpPassword, from: mailFrom, to: mailTo }));
  if (heartbeatUrl !== '') channels.set('heartbeat', createHeartbeat(heartbeatUrl, traces));
  return channels;
}

/** The names of the channels that carry words. */
export function wordChannels(channels: Iterable<AlertChannel>): AlertChannel[] {
  return [...channels].filter((channel) => channel !== 'heartbeat');
}
