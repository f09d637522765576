import type { CommandEntry } from './entry.ts';

export const startEntries: readonly CommandEntry[] = [
  {
    usage: 'init [dir]',
    summary: 'write a configuration and the data folders',
    does: 'write a commented configuration, .env.example and the data folders; overwrite nothing',
    example: 'counterfoil init payroll',
    options: [
      ['--mode <mode>', 'test or live; a home has one mode', 'test'],
      ['--sandbox', 'point the configuration at the local sandbox, keys included'],
    ],
    load: async () => (await import('../setup/setup.ts')).init,
  },
  {
    usage: 'demo',
    summary: 'run the whole loop on this machine alone',
    does: 'run the whole loop against the built-in sandbox, in its own folder: no key, no server, no network',
    example: 'counterfoil demo',
    load: async () => (await import('../setup/demo.ts')).demo,
  },
  {
    usage: 'sandbox',
    summary: 'run a local payments service for trials',
    does: 'run a local payments service with the whole interface, until stopped',
    example: 'counterfoil sandbox --port 9000 --scenario failures',
    options: [
      ['--port <port>', 'port to listen on', '8900'],
      ['--seed <n>', 'seed of the scenario’s choices', '1'],
      [
        '--scenario <name>',
        'what goes wrong: calm, lost-answers, late-webhooks, doubled-webhooks, missing-webhooks, forged-webhooks, failures, returns, stranger, wrong-amount, wrong-fee, duplicates, vanishing, chaos',
        'calm',
      ],
      ['--webhook-url <url>', 'where test webhooks go'],
      ['--duplicates <what>', 'answer to a reference already used: refuse, accept or conflict', 'refuse'],
      ['--settle-ms <ms>', 'how long a transfer stays pending', '300'],
      ['--strict-signature', 'require a signature that is valid under both readings of its rule'],
    ],
    load: async () => (await import('../setup/run-sandbox.ts')).sandbox,
  },
  {
    usage: 'check <file...>',
    summary: 'validate files; record and send nothing',
    does: 'validate batches and print totals, warnings and possible duplicates; record and send nothing',
    example: 'counterfoil check november.csv',
    options: [['--verbose', 'name every row of each warning, and the totals by bank']],
    load: async () => (await import('../submit/check.ts')).check,
  },
];
