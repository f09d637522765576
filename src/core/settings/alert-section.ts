import { z } from 'zod';
import { checkMail, checkSmtpUrl, isLink, isWebAddress } from './alert-checks.ts';

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
