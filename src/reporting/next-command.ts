import { isReference } from '../domain/ids.ts';

type Question = { kind: string; reference: string; payout_id: bigint | null };

/**
 * The command that a person runs first about a discrepancy: one that only shows, or asks before it changes anything.
 * Only references of the ledger's own shape stand in it: others were written by the service, and people paste commands
 * into a shell.
 */
export function commandFor({ kind, reference, payout_id }: Question): string {
  if (payout_id === null || !isReference(reference)) return `counterfoil discrepancies --kind ${kind}`;
  switch (kind) {
    case 'webhook_missing':
      return `counterfoil resend ${reference}`;
    case 'returned_after_success':
      return `counterfoil retry ${reference}`;
    default:
      return `counterfoil show ${reference}`;
  }
}
