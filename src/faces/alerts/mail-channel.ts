import { isLoopback } from '../../core/settings/settings-checks.ts';
import { type ChannelResult, errorCode, failedBy, type SendMessage } from './channel.ts';

/** The longest that one mail may take, from the connection to the last answer. */
const timeoutMs = 30_000;
const stepMs = 10_000;

export type MailSettings = { url: string; password: string | undefined; from: string; to: readonly string[] };

/**
 * Sends mail by SMTP: TLS from the start with `smtps:`, STARTTLS with `smtp:`, which only loopback may lack. The
 * certificate is verified. A mail that is sent twice has the same Message-ID.
 */
export function createMail({ url, password, from, to }: MailSettings): SendMessage {
  const { protocol, hostname, port, username } = new URL(url);
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const options = {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !isLoopback(hostname),
    ignoreTLS: !secure && isLoopback(hostname),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: password ?? '' } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return async ({ wording: { title, text }, id, signal }) => {
    const { createTransport } = await import('nodemailer');
    const transport = createTransport(options);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const aborted = Promise.withResolvers<ChannelResult>();
    const onAbort = (): void => aborted.resolve(failedBy(signal.aborted ? 'stopped' : 'timeout'));
    limit.addEventListener('abort', onAbort, { once: true });
    if (limit.aborted) onAbort();
    const mail = { from, to: [...to], subject: title, text, messageId: `<${id}@counterfoil.invalid>` };
    const sending = transport.sendMail(mail).then(
      (): ChannelResult => ({ kind: 'sent' }),
      (error: unknown) => failedBy(mailProblem(error, signal)),
    );
    try {
      return await Promise.race([sending, aborted.promise]);
    } finally {
      limit.removeEventListener('abort', onAbort);
      transport.close();
    }
  };
}

/** The answer's number where the server refused, else the code of the error. */
function mailProblem(error: unknown, signal: AbortSignal): string {
  const number = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : Number.NaN;
  return Number.isInteger(number) ? `smtp_${number}` : errorCode(error, signal);
}
