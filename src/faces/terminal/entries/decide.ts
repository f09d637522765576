import { type CommandEntry, filters } from './entry.ts';

export const decideEntries: readonly CommandEntry[] = [
  {
    usage: 'retry [reference...]',
    summary: 'pay again, after a look at the evidence',
    does: 'send an unknown payout again, or pay a failed, refused or returned one again; show the evidence and ask first',
    example: 'counterfoil retry ACME-0001 --yes --evidence 3f9a1c0d52e7',
    options: [
      ['--batch <batch>', 'every payout of the batch in --state'],
      ['--state <state>', 'failed, refused, returned or unknown', 'failed'],
      ['--evidence <digest>', 'the digest of the evidence that was shown'],
      ['--no-wait', 'record the decision, but send nothing'],
      ['--live', 'send real money (mode: live)'],
    ],
    load: async () => (await import('../decisions/retry.ts')).retry,
  },
  {
    usage: 'settle [reference...]',
    summary: 'close payouts that evidence has not made final',
    does: 'close payouts that evidence has not made final, as paid or not paid: by reference, or by the filters those with an open discrepancy; later evidence reopens them',
    example: 'counterfoil settle ACME-0001 --as not-paid --note "bank letter of 3 May"',
    options: [
      ['--as <verdict>', 'paid or not-paid'],
      ['--batch <batch>', 'those of this batch'],
      ['--kind <kind>', 'those with an open discrepancy of this kind'],
      ['--note <text>', 'how we know'],
    ],
    load: async () => (await import('../decisions/settle.ts')).settle,
  },
  {
    usage: 'resend <reference...>',
    summary: 'ask the service to send webhooks again',
    does: 'ask the service to send webhooks again, within the rate limit',
    example: 'counterfoil resend ACME-0001',
    options: [['--collection', 'the references are collections']],
    load: async () => (await import('../decisions/resend.ts')).resend,
  },
  {
    usage: 'ack [id...]',
    summary: 'mark discrepancies as being worked on',
    does: 'mark discrepancies as being worked on, by id or in bulk by the filters; end what is known of a refused file, by its name',
    example: 'counterfoil ack D-3f9a1c0d52e7 --note "asked the service, ticket 4711"',
    options: [...filters, ['--note <text>', 'what is known']],
    load: async () => (await import('../discrepancies/decide-discrepancies.ts')).acknowledge,
  },
  {
    usage: 'resolve [id...]',
    summary: 'mark discrepancies as dealt with',
    does: 'mark discrepancies as dealt with: by id, or in bulk by the filters',
    example: 'counterfoil resolve D-3f9a1c0d52e7 --note "recalled, bank statement of 3 May"',
    options: [...filters, ['--note <text>', 'what was done about it']],
    load: async () => (await import('../discrepancies/decide-discrepancies.ts')).resolve,
  },
  {
    usage: 'close-period <month>',
    summary: 'freeze the statement of a month that has ended',
    does: 'freeze the statement of an ended month; the next one opens with its closing balance',
    example: 'counterfoil close-period 2026-10',
    load: async () => (await import('../reconcile/close-period.ts')).closePeriod,
  },
];
