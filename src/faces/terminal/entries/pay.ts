import type { CommandEntry } from './entry.ts';

export const payEntries: readonly CommandEntry[] = [
  {
    usage: 'submit [file...]',
    summary: 'take in files, send what is ready, write the results',
    does: 'take in the given files and send them; without files, take in the inbox and send all that is ready; then write the results',
    example: 'counterfoil submit november.csv --rows 120 --total NGN=1200000.00',
    options: [
      ['--dry-run', 'stop before anything is recorded'],
      ['--no-wait', 'record, but send nothing'],
      ['--rows <n>', 'the number of rows the file must have'],
      ['--total <currency=amount...>', 'the total the file must have; repeat it for each currency'],
      ['--pay-on <date>', 'send rows that name no pay_on not before this day, YYYY-MM-DD'],
      ['--live', 'send real money (mode: live)'],
    ],
    load: async () => (await import('../submit/submit.ts')).submit,
  },
  {
    usage: 'approve <batch>',
    summary: 'approve a batch as a second person',
    does: 'approve a batch held by submission.approval; the approver must not be its submitter',
    example: 'counterfoil approve november-20261121-3f9a1c',
    load: async () => (await import('../batches/approve.ts')).approve,
  },
  {
    usage: 'hold [batch]',
    summary: 'hold a batch, or all sending with --mode',
    does: 'hold a batch, or everything with --mode; report how many payouts were already in flight',
    example: 'counterfoil hold november-20261121-3f9a1c',
    options: [['--mode', 'hold everything in the configured mode']],
    load: async () => (await import('../batches/hold.ts')).hold,
  },
  {
    usage: 'release [batch]',
    summary: 'release a held batch, or lift a halt with --mode',
    does: 'release a held batch, or lift a halt with --mode; a batch that needs approval stays held',
    example: 'counterfoil release --mode',
    options: [
      ['--mode', 'lift the halt of the configured mode'],
      [
        '--evidence <digest>',
        'with --note: the digest of what status says is not proven; refuses where that has changed',
      ],
      ['--note <text>', 'with --mode: how you know that an adopted ledger needs no complete list'],
    ],
    load: async () => (await import('../batches/hold.ts')).release,
  },
  {
    usage: 'cancel <name>',
    summary: 'cancel what was never sent',
    does: 'cancel a batch or one payout: what was never sent, and retries that have not gone out',
    example: 'counterfoil cancel november-20261121-3f9a1c',
    load: async () => (await import('../batches/cancel.ts')).cancel,
  },
];
