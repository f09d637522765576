import type { LookUpReply, ServiceTrouble } from '../../../src/core/service/types.ts';

/** What each answer says of it. */
export const data = { reference: 'INV-1', trx: 'COL1', amount: '100.00', currency: 'NGN', domain: 'test' };
/** INV-1 as the verify endpoint shows it paid, but for what the patch says. */
export const shown = (patch: Record<string, unknown> = {}) =>
  reply({ success: true, status: '00', message: 'found', data: { ...data, status: 'success', ...patch } });
export const absent = () => reply({ success: false, status: '05', message: 'Transaction not found' }, 404);
export const silent: ServiceTrouble = {
  kind: 'trouble',
  reason: 'timeout',
  message: 'no answer',
  httpStatus: null,
  retryAfterMs: null,
};

export function reply(json: unknown, httpStatus = 200): LookUpReply {
  return { kind: 'reply', httpStatus, json, raw: JSON.stringify(json), date: null };
}
