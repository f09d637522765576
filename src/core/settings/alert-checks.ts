import type { z } from 'zod';
import { isLoopback } from './settings-checks.ts';

/** True for an address that may be asked; its user and password would end up in logs of others. */
export function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** True for an address that people may be sent to. */
export function isLink(text: string): boolean {
  if (text === '') return true;
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

export function checkSmtpUrl(text: string, context: z.RefinementCtx): void {
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
export function checkMail(
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
