import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addGlobals } from './global-options.ts';
import { addHelp, noCommand } from './help.ts';
import { type Result, Stop } from './result.ts';
import type { GlobalOptions, Handler, World } from './world.ts';

/** One line of the command table; the handler's module is loaded only when the command runs. */
type Entry = {
  usage: string;
  does: string;
  example: string;
  options?: [flags: string, text: string, fallback?: string][];
  load(): Promise<Handler>;
};

/** Options that select discrepancies, to list them or to decide them in bulk. */
const filters: [flags: string, text: string][] = [
  ['--kind <kind>', 'only this kind'],
  ['--batch <batch>', 'only this batch'],
  ['--older-than <days>', 'only those first seen at least this many days ago'],
];

const entries: Entry[] = [
  {
    usage: 'demo',
    does: 'run the whole loop against the built-in sandbox, in its own folder: no key, no server, no network',
    example: 'counterfoil demo',
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    usage: 'init [dir]',
    does: 'write a commented configuration, .env.example and the data folders; overwrite nothing',
    example: 'counterfoil init payroll',
    options: [
      ['--mode <mode>', 'test or live; a home has one mode', 'test'],
      ['--sandbox', 'point the configuration at the local sandbox, keys included'],
    ],
    load: async () => (await import('./setup.ts')).init,
  },
  {
    usage: 'check <file...>',
    does: 'validate batches and print totals, warnings and possible duplicates; record and send nothing',
    example: 'counterfoil check november.csv',
    load: async () => (await import('./check.ts')).check,
  },
  {
    usage: 'submit [file...]',
    does: 'take in the given files (default: the inbox), send what is ready and write the results',
    example: 'counterfoil submit november.csv --rows 120 --total NGN=1200000.00',
    options: [
      ['--dry-run', 'stop before anything is recorded'],
      ['--no-wait', 'record, but send nothing'],
      ['--rows <n>', 'the number of rows the file must have'],
      ['--total <currency=amount...>', 'the total the file must have, per currency'],
      ['--live', 'send real money (mode: live)'],
    ],
    load: async () => (await import('./submit.ts')).submit,
  },
  {
    usage: 'approve <batch>',
    does: 'approve a batch held by submission.approval; the approver must not be its submitter',
    example: 'counterfoil approve november-20261121-3f9a1c',
    load: async () => (await import('./approve.ts')).approve,
  },
  {
    usage: 'hold [batch]',
    does: 'hold a batch, or everything with --mode; report how many payouts were already in flight',
    example: 'counterfoil hold november-20261121-3f9a1c',
    options: [['--mode', 'hold everything in the configured mode']],
    load: async () => (await import('./hold.ts')).hold,
  },
  {
    usage: 'release [batch]',
    does: 'release a held batch, or lift a halt with --mode; a batch that needs approval stays held',
    example: 'counterfoil release --mode',
    options: [
      ['--mode', 'lift the halt of the configured mode'],
      ['--note <text>', 'with --mode: how you know that the adopted ledger’s account is closed'],
    ],
    load: async () => (await import('./hold.ts')).release,
  },
  {
    usage: 'cancel <name>',
    does: 'cancel a batch or one payout; only what was never sent',
    example: 'counterfoil cancel november-20261121-3f9a1c',
    load: async () => (await import('./cancel.ts')).cancel,
  },
  {
    usage: 'retry [reference...]',
    does: 'send an unknown payout again, or pay a failed, refused or returned one again; show the evidence and ask first',
    example: 'counterfoil retry ACME-0001 --yes --evidence 3f9a1c0d52e7',
    options: [
      ['--batch <batch>', 'every payout of the batch in --state'],
      ['--state <state>', 'failed, refused, returned or unknown', 'failed'],
      ['--evidence <digest>', 'the digest of the evidence that was shown'],
      ['--no-wait', 'record the decision, but send nothing'],
      ['--live', 'send real money (mode: live)'],
    ],
    load: async () => (await import('./retry.ts')).retry,
  },
  {
    usage: 'settle <reference>',
    does: 'close a payout that evidence has not made final, as paid or not paid; later evidence reopens it',
    example: 'counterfoil settle ACME-0001 --as not-paid --note "bank letter of 3 May"',
    options: [
      ['--as <verdict>', 'paid or not-paid'],
      ['--note <text>', 'how we know'],
    ],
    load: async () => (await import('./settle.ts')).settle,
  },
  {
    usage: 'serve',
    does: 'run the daemon: schedules, queue workers and the webhook receiver',
    example: 'counterfoil serve',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    usage: 'reconcile',
    does: 'reconcile once, now',
    example: 'counterfoil reconcile --json',
    options: [
      ['--full', 'reconcile everything, not only the window'],
      ['--no-follow-up', 'make no look-ups and request no webhooks'],
    ],
    load: async () => (await import('./reconcile.ts')).reconcile,
  },
  {
    usage: 'report [name]',
    does: 'write the reports of a run, closed month or batch again (default: every changed batch and the last run)',
    example: 'counterfoil report 20261121T020000Z',
    options: [['--against <run>', 'explain line by line what changed since that run']],
    load: async () => (await import('./report.ts')).report,
  },
  {
    usage: 'close-period <month>',
    does: 'freeze the statement of an ended month; the next one opens with its closing balance',
    example: 'counterfoil close-period 2026-10',
    load: async () => (await import('./close-period.ts')).closePeriod,
  },
  {
    usage: 'resend <reference...>',
    does: 'ask the service to send webhooks again, within the rate limit',
    example: 'counterfoil resend ACME-0001',
    options: [['--collection', 'the references are collections']],
    load: async () => (await import('./resend.ts')).resend,
  },
  {
    usage: 'status',
    does: 'show where everything stands',
    example: 'counterfoil status --json',
    load: async () => (await import('./status.ts')).status,
  },
  {
    usage: 'show <reference>',
    does: 'show the whole story of one payout or collection, each fact with its source and time',
    example: 'counterfoil show ACME-0001',
    options: [['--full-accounts', 'show account numbers in full']],
    load: async () => (await import('./show.ts')).show,
  },
  {
    usage: 'discrepancies [verb] [id...]',
    does: 'list open discrepancies, the gravest first; ack or resolve them; export or import a workbook',
    example: 'counterfoil discrepancies --kind amount_conflict',
    options: [
      ...filters,
      ['--note <text>', 'with ack or resolve: what is known or was done'],
      ['--export <file>', 'write them to a workbook with cells for decision and note'],
      ['--import <file>', 'apply the decisions of such a workbook: all or none'],
    ],
    load: async () => (await import('./discrepancies/list-discrepancies.ts')).discrepancies,
  },
  {
    usage: 'ack [id...]',
    does: 'mark discrepancies as being worked on: by id, or in bulk by the filters',
    example: 'counterfoil ack D-3f9a1c0d52e7 --note "asked the service, ticket 4711"',
    options: [...filters, ['--note <text>', 'what is known']],
    load: async () => (await import('./discrepancies/discrepancy-words.ts')).acknowledge,
  },
  {
    usage: 'resolve [id...]',
    does: 'mark discrepancies as dealt with: by id, or in bulk by the filters',
    example: 'counterfoil resolve D-3f9a1c0d52e7 --note "recalled, bank statement of 3 May"',
    options: [...filters, ['--note <text>', 'what was done about it']],
    load: async () => (await import('./discrepancies/discrepancy-words.ts')).resolve,
  },
  {
    usage: 'doctor',
    does: 'check the installation and print a fix for each fault; send nothing that moves money',
    example: 'counterfoil doctor --reference ACME-0001',
    options: [
      ['--offline', 'ask the service nothing'],
      ['--reference <reference>', 'show how the body of this payout was signed'],
      ['--show-body', 'show the whole body, account number included; only on a terminal'],
    ],
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    usage: 'config <verb>',
    does: 'config show: print every effective value and its origin, secrets redacted',
    example: 'counterfoil config show',
    load: async () => (await import('./config-show.ts')).configShow,
  },
  {
    usage: 'verify',
    does: 'prove the ledger: integrity, history, balances, and that no payout was sent twice without a decision',
    example: 'counterfoil verify --json',
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    usage: 'backup <file>',
    does: 'write a consistent copy of the ledger, even while the daemon runs',
    example: 'counterfoil backup /srv/backup/ledger-20261121.db',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    usage: 'restore [file]',
    does: 'replace the ledger with a backup; --adopt makes a ledger that went back in time safe to use',
    example: 'counterfoil restore /srv/backup/ledger-20261121.db --adopt',
    options: [['--adopt', 'mark as unknown what may have been sent since the backup']],
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    usage: 'migrate',
    does: 'move the ledger permanently and seal the old file',
    example: 'counterfoil migrate --to sqlite:ledger-2027.db',
    options: [['--to <url>', 'the new place, such as sqlite:FILE']],
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    usage: 'upgrade',
    does: 'back up an older ledger, then bring it to this version',
    example: 'counterfoil upgrade --check',
    options: [['--check', 'report whether an upgrade is due; change nothing']],
    load: async () => (await import('./upgrade.ts')).upgradeCommand,
  },
  {
    usage: 'sandbox',
    does: 'run a local payments service with the whole interface, until stopped',
    example: 'counterfoil sandbox --port 9000 --scenario failures',
    options: [
      ['--port <port>', 'port to listen on', '8900'],
      ['--seed <n>', 'seed of the scenario’s choices', '1'],
      ['--scenario <name>', 'what goes wrong', 'calm'],
      ['--webhook-url <url>', 'where test webhooks go'],
      ['--duplicates <what>', 'answer to a reference already used: refuse, accept or conflict', 'refuse'],
      ['--settle-ms <ms>', 'how long a transfer stays pending', '300'],
      ['--strict-signature', 'require a signature that is valid under both readings of its rule'],
    ],
    load: async () => (await import('./run-sandbox.ts')).sandbox,
  },
];

/** Builds the command line: every verb with its help, and the global options everywhere. Wrong usage throws a CommanderError. */
export function buildProgram(world: World & { finish(result: Result): void }): Command {
  // Commander writes help in pieces.
  let told = '';
  const program = new Command('counterfoil')
    .description('Sends payout batches once, receives their webhooks and reconciles them to the last kobo.')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeErr: (text) => world.say(text.trimEnd()),
      writeOut: (piece) => {
        told += piece;
        const text = told.trimEnd();
        const json = text === packageJson.version ? { version: text } : { help: text };
        world.finish({ code: 0, lines: [text], json });
      },
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 usage or configuration, 3 input refused, 4 a person is needed, 11 locked, 130 interrupted.\n\nStart with: counterfoil demo',
    );
  addGlobals(program);
  for (const entry of entries) {
    const command = program
      .command(entry.usage)
      .description(entry.does)
      .addHelpText('after', `\nExample:\n  ${entry.example}`);
    addGlobals(command);
    for (const [flags, text, fallback] of entry.options ?? []) command.option(flags, text, fallback);
    command.action(async () => {
      const handler = await entry.load();
      const { mode: _mode, ...options } = command.opts<Record<string, unknown>>();
      const merged: GlobalOptions = { ...program.opts<GlobalOptions>(), ...command.opts<GlobalOptions>() };
      world.finish(await handler({ ...world, options: merged }, command.args, { ...options, mode: _mode }));
    });
  }
  addHelp(program);
  program.allowExcessArguments().action(() => {
    const [name] = program.args;
    if (name !== undefined) throw noCommand(name);
    program.outputHelp({ error: true });
    throw new Stop(2, 'name a command');
  });
  return program;
}
