/** What the service does with a request: an answer, or one of two ways of not answering. */
export type Reply =
  | { kind: 'json'; status: number; body: unknown; retryAfterSeconds?: number }
  | { kind: 'page'; status: number; contentType: string; text: string; retryAfterSeconds?: number }
  | { kind: 'cut' }
  | { kind: 'silence' };

/** The codes that this service answers with, their HTTP status and text. The document shows only `00`. */
const refusals = {
  '04': { status: 404, message: 'Reference not found' },
  '05': { status: 404, message: 'Transaction not found' },
  '06': { status: 400, message: 'Webhook URL not set' },
  '07': { status: 400, message: 'Incomplete request' },
  '09': { status: 400, message: 'Transaction already exists' },
  '10': { status: 400, message: 'Insufficient balance' },
  '11': { status: 503, message: 'Out of service' },
  '12': { status: 404, message: 'Not found' },
  '18': { status: 401, message: 'Unauthorised' },
  '22': { status: 400, message: 'Invalid signature' },
  '24': { status: 400, message: 'Invalid amount' },
  '100': { status: 500, message: 'An error occurred' },
} as const;

export type RefusalCode = keyof typeof refusals;

/** A success envelope: status `00`. */
export function accepted(message: string, data: unknown): Reply {
  return { kind: 'json', status: 200, body: { success: true, status: '00', message, data } };
}

/** A refusal in the service's envelope; echoes the payout's reference where it is known. */
export function refused(
  code: RefusalCode,
  detail: { status?: number; message?: string; reference?: string } = {},
): Extract<Reply, { kind: 'json' }> {
  const { reference, ...rest } = { ...refusals[code], ...detail };
  const data = reference === undefined ? {} : { data: { reference } };
  const body = { success: false, status: code, message: rest.message, ...data };
  return { kind: 'json', status: rest.status, body };
}

/** Answers too many requests. No known code means that: only the HTTP status shows it. */
export function throttled(retryAfterSeconds: number, reference?: string): Reply {
  const detail = { status: 429, message: 'Too many requests', ...(reference && { reference }) };
  return { ...refused('100', detail), retryAfterSeconds };
}

/** A page from a machine in front of or behind the service: no envelope. */
export function foreignPage(status: number, title: string): Reply {
  const text = `<html><head><title>${status} ${title}</title></head><body><h1>${title}</h1></body></html>`;
  return { kind: 'page', status, contentType: 'text/html', text };
}
