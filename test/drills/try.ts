import { type DrillHome, token } from './home.ts';
import type { Answer } from './raw-request.ts';

/** The header of one who may decide. */
export const ours = `authorization: Bearer ${token}`;
/** What lies outside the reports folder. */
export const secret = 'SECRET-OUTSIDE';
export const evil = '<img src=x onerror=alert(1)>';

export type Try = { what: string; answer: Answer; isRefused: boolean };

export const portOf = ({ admin }: DrillHome): number => Number(new URL(admin).port);

export function refused(what: string, answer: Answer): Try {
  const isRefused = answer.status >= 400 && answer.status < 500 && !answer.body.includes(secret);
  return { what, answer, isRefused };
}
