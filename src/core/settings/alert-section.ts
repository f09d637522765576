import { z } from 'zod';
import { isLoopback } from './settings-checks.ts';

/** An address that is posted to; empty: off. */
export const webAddress = z
  .string()
  .refine((text) => text === '' || isWebAddress(text), 'expected an https address (http only for loopback)')
  .default('');
const expectedMail = 'expected one mail address such as pay@example.com, without a name';
const mailAddress = z.string().regex(/^[^\s<>()[\],;:\\"@\p{C}]{1,64}@[A-Za-z0-9.-]{1,253}$/u, expectedMail);

export const alertSection = z
  .strictObject({
    webhook_url: webAddress.describe('Slack-compatible address. Empty: no messages there'),
    smtp_url: z
      .string()
      .superRefine(checkSmtpUrl)
      .default('')
      .describe('`smtps://USER@HOST:465`; the password is `COUNTERFOIL_ALERTS_SMTP_PASSWORD`'),
    mail_to: z.array(mailAddress).max(50).default([]).describe('Who gets the mails'),
    mail_from: z
      .union([z.literal(''), mailAddress], expectedMail)
      .default('')
      .describe('The sender of the mails'),
    dashboard_url: z
      .string()
      .refine(
        isLink,
        'expected an address such as https://pay.example.com:8788, without user, query and fragment',
      )
      .default('')
      .describe('The link in each message'),
    heartbeat_url: webAddress.describe(
      'Asked with GET after each complete reconciliation, for a dead-man switch',
    ),
  })
  .superRefine(checkMail);

export const eventKeys = {
  url: webAddress.describe(
    'Each event is posted there, signed with `COUNTERFOIL_EVENTS_SECRET` (docs/events.md). Empty: off',
  ),
  details: z
    .boolean()
    .default(false)
    .describe('Events of payouts also name account, bank, beneficiary and amount'),
};

/** True for an address that may be asked; its user and password would end up in logs of others. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** True for an address that people may be sent to. */
function isLink(text: string): boolean {
  if (text === '') return true;
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

function checkSmtpUrl(text: string, context: z.RefinementCtx): void {
  if (text === '') return;
  const fail = (message: string): void => context.addIssue({ code: 'custom', message });
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '' || !isBare(url))
    fail('expected an address such as smtps://user@smtp.example.com:465');
  else if (url.password !== '')
    fail('expected no password here: set COUNTERFOIL_ALERTS_SMTP_PASSWORD in the environment or .env');
}

function isBare({ pathname, search, hash }: URL): boolean {
  return (pathname === '' || pathname === '/') && search + hash === '';
}

/** Mail needs all three, or none is sent. */
function checkMail(
  { smtp_url, mail_to, mail_from }: { smtp_url: string; mail_to: string[]; mail_from: string },
  context: z.RefinementCtx,
): void {
  const fail = (key: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [key], message });
  if (smtp_url === '') {
    if (mail_to.length > 0) fail('smtp_url', 'expected the mail server, since mail_to is set');
    return;
  }
  if (mail_to.length === 0) fail('mail_to', 'expected at least one address, since smtp_url is set');
  if (mail_from === '') fail('mail_from', 'expected the sender, since smtp_url is set');
}
