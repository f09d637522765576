import type { App } from '../../../app/app.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { undelivered } from '../../../findings/event-standing.sql.ts';
import { openChannels, wordChannels } from '../../alerts/channels.ts';
import { testWords } from '../../alerts/message-words.ts';
import { alertsStanding } from '../../json/alerts-standing.ts';
import { type DoctorCheck, faulty, skipped, well, wrong } from './doctor-check.ts';

const off =
  'alerts.webhook_url and alerts.smtp_url are empty: no message about a halt or a failed run is sent';

/** Checks that alerts leave: what could not be sent. */
export async function checkAlerts(app: App<'looking'>): Promise<DoctorCheck> {
  const { problems, json } = await alertsStanding(app);
  if (json.channels.length === 0) return skipped('alerts', off);
  if (problems.length > 0)
    return wrong(
      'alerts',
      problems.join('; '),
      'counterfoil doctor --alert tries each channel; correct its key under alerts. What waits is sent again by itself',
    );
  return well('alerts', json.channels.join(', '));
}

/** Checks that events reach `events.url`. */
export async function checkEvents({ config, ledger, clock }: App<'looking'>): Promise<DoctorCheck> {
  if (config.events.url === '') return skipped('events', 'events.url is empty: no event is posted');
  const [found] = await undelivered(ledger.db, { config, nowMs: clock.now() });
  if (!found) return well('events', `posted to ${new URL(config.events.url).host} while serve runs`);
  return faulty('events', found);
}

/** Sends a test message through each channel, and says how each answered. The heartbeat is not asked: it would be a false sign. */
export async function tryChannels(config: Config): Promise<DoctorCheck[]> {
  const channels = openChannels(config);
  const names = wordChannels(channels.keys());
  if (names.length === 0)
    return [wrong('test alert', off, 'set one of them, then run counterfoil doctor --alert')];
  const style = { timezone: config.reports.timezone, dashboardUrl: config.alerts.dashboardUrl };
  const wording = testWords(config.mode, style);
  const id = `test.${crypto.randomUUID()}`;
  const tries = names.map(async (name) => {
    const result = await channels.get(name)?.({ wording, id, signal: new AbortController().signal });
    return result?.kind === 'sent'
      ? well(`test ${name}`, 'the test message was accepted')
      : wrong(
          `test ${name}`,
          `the test message was not accepted (${result?.problem ?? 'unknown'})`,
          fixes[name === 'mail' ? 'mail' : 'webhook'],
        );
  });
  return Promise.all(tries);
}

const fixes = {
  webhook: 'check alerts.webhook_url: http_404, http_403 and http_410 mean a wrong or closed address',
  mail: 'check alerts.smtp_url, mail_from, mail_to and COUNTERFOIL_ALERTS_SMTP_PASSWORD: EAUTH and smtp_535 mean a wrong password, ETLS and ESOCKET a certificate or port',
};
