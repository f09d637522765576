import { Webhook } from 'standardwebhooks';

/** What is posted: `id` names the message, `at` is now. */
type Message = { id: string; at: Date; body: string };

/** The signature of a message, as Standard Webhooks say. */
export function signatureOf(secret: string, { id, at, body }: Message): string {
  return new Webhook(secret).sign(id, at, body);
}

/** The headers of a signed message in JSON. */
export function signedHeaders(secret: string, message: Message): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': `${Math.floor(message.at.getTime() / 1000)}`,
    'webhook-signature': signatureOf(secret, message),
  };
}
