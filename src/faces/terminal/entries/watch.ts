import { type CommandEntry, filters, type OptionEntry } from './entry.ts';

const fullAccounts: OptionEntry = ['--full-accounts', 'show account numbers in full'];
/** How a list is shown. */
const shown: readonly OptionEntry[] = [
  ['--limit <n>', 'list at most this many', '50'],
  fullAccounts,
  ['--csv', 'write CSV'],
];

export const watchEntries: readonly CommandEntry[] = [
  {
    usage: 'status',
    summary: 'show where everything stands',
    does: 'show where everything stands',
    example: 'counterfoil status --json',
    options: [['--metrics', 'print the figures for Prometheus, for a textfile collector']],
    load: async () => (await import('../status/status.ts')).status,
  },
  {
    usage: 'batches',
    summary: 'list batches: rows, totals, what is paid and open',
    does: 'list batches, the newest first, with state, rows, totals, and what is paid and open',
    example: 'counterfoil batches',
    load: async () => (await import('../batches/batches.ts')).batches,
  },
  {
    usage: 'payouts',
    summary: 'list payouts by state, batch, currency, day, reference',
    does: 'list payouts, the newest first, and the totals of all that match',
    example: 'counterfoil payouts --state failed --batch november',
    options: [
      ['--state <state>', 'only this state'],
      ['--batch <batch>', 'only this batch'],
      ['--currency <currency>', 'only this currency'],
      ['--since <time>', 'only those taken in since this day or time'],
      ['--reference <prefix>', 'only references that begin so'],
      ...shown,
    ],
    load: async () => (await import('../batches/payouts.ts')).payouts,
  },
  {
    usage: 'payees',
    summary: 'list the accounts paid before, with their names',
    does: 'list the accounts that were paid before, with every name under which they were',
    example: 'counterfoil payees --changed',
    options: [['--changed', 'only those whose account or name changed'], ...shown],
    load: async () => (await import('../batches/payees.ts')).payees,
  },
  {
    usage: 'show <reference>',
    summary: 'tell the whole story of one payout or collection',
    does: 'show the whole story of one payout or collection, each fact with its source and time',
    example: 'counterfoil show ACME-0001',
    options: [fullAccounts],
    load: async () => (await import('../show/show.ts')).show,
  },
  {
    usage: 'discrepancies [verb] [id...]',
    summary: 'list what does not agree, the gravest first',
    does: 'list open discrepancies, the gravest first; ack or resolve them; export or import a workbook',
    example: 'counterfoil discrepancies --kind amount_conflict',
    options: [
      ...filters,
      ['--note <text>', 'with ack or resolve: what is known or was done'],
      ['--export <file>', 'write them to a workbook with cells for decision and note'],
      ['--import <file>', 'apply the decisions of such a workbook: all or none'],
    ],
    load: async () => (await import('../discrepancies/list-discrepancies.ts')).discrepancies,
  },
  {
    usage: 'reconcile',
    summary: 'compare the ledger with the service, once, now',
    does: 'reconcile once, now',
    example: 'counterfoil reconcile --json',
    options: [
      ['--full', 'reconcile everything, not only the window'],
      ['--no-follow-up', 'make no look-ups and request no webhooks'],
    ],
    load: async () => (await import('../reconcile/reconcile.ts')).reconcile,
  },
  {
    usage: 'report [name]',
    summary: 'write the reports of a run, month or batch again',
    does: 'write the reports of a run, closed month or batch again (default: every changed batch and the last run)',
    example: 'counterfoil report 20261121T020000Z',
    options: [['--against <run>', 'explain line by line what changed since that run']],
    load: async () => (await import('../reconcile/report.ts')).report,
  },
];
