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

/** What narrows a list of discrepancies, and those a word is said about in bulk. */
const filters: [flags: string, text: string][] = [
  ['--kind <kind>', 'only this kind'],
  ['--batch <batch>', 'only this batch'],
  ['--older-than <days>', 'only those first seen at least so many days ago'],
];

const entries: Entry[] = [
  {
    usage: 'demo',
    does: 'the whole loop against the built-in sandbox, in a folder of its own: no key, no server, no network',
    example: 'counterfoil demo',
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    usage: 'init [dir]',
    does: 'write a commented configuration, .env.example and the data folders; never overwrites',
    example: 'counterfoil init payroll',
    options: [
      ['--mode <mode>', 'test or live; a home belongs to one of them', 'test'],
      ['--sandbox', 'point the configuration at the local sandbox, keys included'],
    ],
    load: async () => (await import('./setup.ts')).init,
  },
  {
    usage: 'check <file...>',
    does: 'validate batches and print totals, warnings and possible duplicates; records and sends nothing',
    example: 'counterfoil check november.csv',
    load: async () => (await import('./check.ts')).check,
  },
  {
    usage: 'submit [file...]',
    does: 'take in the given files (without any: the inbox), send what is ready, write the results',
    example: 'counterfoil submit november.csv --rows 120 --total NGN=1200000.00',
    options: [
      ['--dry-run', 'stop before recording'],
      ['--no-wait', 'record, but send nothing'],
      ['--rows <n>', 'the number of rows the file must have'],
      ['--total <currency=amount...>', 'the total the file must have, per currency'],
      ['--live', 'send real money (mode: live)'],
    ],
    load: async () => (await import('./submit.ts')).submit,
  },
  {
    usage: 'approve <batch>',
    does: 'the second person’s word: lets a batch go that submission.approval holds; not for who dropped it',
    example: 'counterfoil approve november-20261121-3f9a1c',
    load: async () => (await import('./approve.ts')).approve,
  },
  {
    usage: 'hold [batch]',
    does: 'stop sending a batch, or with --mode everything; says how many were already on their way',
    example: 'counterfoil hold november-20261121-3f9a1c',
    options: [['--mode', 'everything of the configured mode']],
    load: async () => (await import('./hold.ts')).hold,
  },
  {
    usage: 'release [batch]',
    does: 'let a held batch go, but for what only approve lets go; with --mode lift a halt',
    example: 'counterfoil release --mode',
    options: [
      ['--mode', 'everything of the configured mode'],
      ['--note <text>', 'with --mode: how you know that the account of an adopted ledger is closed'],
    ],
    load: async () => (await import('./hold.ts')).release,
  },
  {
    usage: 'cancel <name>',
    does: 'cancel a batch or one payout; touches only what was never sent',
    example: 'counterfoil cancel november-20261121-3f9a1c',
    load: async () => (await import('./cancel.ts')).cancel,
  },
  {
    usage: 'retry [reference...]',
    does: 'send again what is unknown, or pay again what failed, was refused or came back; shows the evidence and asks',
    example: 'counterfoil retry ACME-0001 --yes --evidence 3f9a1c0d52e7',
    options: [
      ['--batch <batch>', 'every payout of the batch in the state given'],
      ['--state <state>', 'failed, refused, returned or unknown', 'failed'],
      ['--evidence <digest>', 'the digest of the evidence that was shown'],
      ['--no-wait', 'record the decision, but send nothing'],
      ['--live', 'send real money (mode: live)'],
    ],
    load: async () => (await import('./retry.ts')).retry,
  },
  {
    usage: 'settle <reference>',
    does: 'a person’s word on an unknown payout; later evidence reopens it',
    example: 'counterfoil settle ACME-0001 --as not-paid --note "bank letter of 3 May"',
    options: [
      ['--as <verdict>', 'paid or not-paid'],
      ['--note <text>', 'how we know'],
    ],
    load: async () => (await import('./settle.ts')).settle,
  },
  {
    usage: 'serve',
    does: 'the daemon: schedules, queue workers and the webhook receiver',
    example: 'counterfoil serve',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    usage: 'reconcile',
    does: 'one reconciliation, now',
    example: 'counterfoil reconcile --json',
    options: [
      ['--full', 'ignore the window'],
      ['--no-follow-up', 'make no look-ups and no resend requests'],
    ],
    load: async () => (await import('./reconcile.ts')).reconcile,
  },
  {
    usage: 'report [name]',
    does: 'write the reports of a run, closed month or batch again; without a name: every changed batch, and the last run',
    example: 'counterfoil report 20261121T020000Z',
    options: [['--against <run>', 'explain line by line what changed since that run']],
    load: async () => (await import('./report.ts')).report,
  },
  {
    usage: 'close-period <month>',
    does: 'freeze the statement of a month that is over; the next one opens where it closed',
    example: 'counterfoil close-period 2026-10',
    load: async () => (await import('./close-period.ts')).closePeriod,
  },
  {
    usage: 'resend <reference...>',
    does: 'ask the service to send webhooks again, inside the throttle',
    example: 'counterfoil resend ACME-0001',
    options: [['--collection', 'the references are collections']],
    load: async () => (await import('./resend.ts')).resend,
  },
  {
    usage: 'status',
    does: 'where everything stands',
    example: 'counterfoil status --json',
    load: async () => (await import('./status.ts')).status,
  },
  {
    usage: 'show <reference>',
    does: 'the whole story of one payout, each fact with its source and time',
    example: 'counterfoil show ACME-0001',
    options: [['--full-accounts', 'account numbers in full']],
    load: async () => (await import('./show.ts')).show,
  },
  {
    usage: 'discrepancies [verb] [id...]',
    does: 'list open discrepancies, the gravest first; ack and resolve as the commands of that name; a workbook for people',
    example: 'counterfoil discrepancies --kind amount_conflict',
    options: [
      ...filters,
      ['--note <text>', 'with ack or resolve: what is known or was done'],
      ['--export <file>', 'write them to a workbook, to fill in decision and note'],
      ['--import <file>', 'read the decisions of such a workbook: all of them or none'],
    ],
    load: async () => (await import('./discrepancies/list-discrepancies.ts')).discrepancies,
  },
  {
    usage: 'ack [id...]',
    does: 'say that somebody sees to these discrepancies: by id, or in bulk by the filters',
    example: 'counterfoil ack D-3f9a1c0d52e7 --note "asked the service, ticket 4711"',
    options: [...filters, ['--note <text>', 'what is known']],
    load: async () => (await import('./discrepancies/discrepancy-words.ts')).acknowledge,
  },
  {
    usage: 'resolve [id...]',
    does: 'say that these discrepancies are dealt with: by id, or in bulk by the filters',
    example: 'counterfoil resolve D-3f9a1c0d52e7 --note "recalled, bank statement of 3 May"',
    options: [...filters, ['--note <text>', 'what was done about it']],
    load: async () => (await import('./discrepancies/discrepancy-words.ts')).resolve,
  },
  {
    usage: 'doctor',
    does: 'find what is wrong, with a fix for each; sends nothing that moves money',
    example: 'counterfoil doctor --reference ACME-0001',
    options: [
      ['--offline', 'ask nothing of the service'],
      ['--reference <reference>', 'show how the body of this payout was signed'],
      ['--show-body', 'show that body whole, account number included; on a terminal only'],
    ],
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    usage: 'config <verb>',
    does: 'config show: every effective value and where it came from, secrets redacted',
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
    does: 'write a consistent copy of the ledger, also while the daemon runs',
    example: 'counterfoil backup /srv/backup/ledger-20261121.db',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    usage: 'restore [file]',
    does: 'put a backup in the ledger’s place; with --adopt make a ledger that went back in time safe to use',
    example: 'counterfoil restore /srv/backup/ledger-20261121.db --adopt',
    options: [['--adopt', 'what may have been sent since becomes unknown']],
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    usage: 'migrate',
    does: 'move the ledger to another place for ever; the old file is sealed',
    example: 'counterfoil migrate --to sqlite:ledger-2027.db',
    options: [['--to <url>', 'where to, such as sqlite:FILE']],
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    usage: 'upgrade',
    does: 'bring the ledger of an earlier version to this one, after a backup',
    example: 'counterfoil upgrade --check',
    options: [['--check', 'say whether it is due, and change nothing']],
    load: async () => (await import('./upgrade.ts')).upgradeCommand,
  },
  {
    usage: 'sandbox',
    does: 'a local payments service that speaks the whole interface; runs until stopped',
    example: 'counterfoil sandbox --port 9000 --scenario failures',
    options: [
      ['--port <port>', 'port to listen on', '8900'],
      ['--seed <n>', 'seed of what the scenario picks', '1'],
      ['--scenario <name>', 'what goes wrong', 'calm'],
      ['--webhook-url <url>', 'where test webhooks go'],
      ['--duplicates <what>', 'a reference that was taken before: refuse, accept or conflict', 'refuse'],
      ['--settle-ms <ms>', 'how long a transfer stays pending', '300'],
      ['--strict-signature', 'a signature must be right under both readings of its rule'],
    ],
    load: async () => (await import('./run-sandbox.ts')).sandbox,
  },
];

/** The command line: every verb with its help, global options everywhere; wrong usage is a CommanderError. */
export function buildProgram(world: World & { finish(result: Result): void }): Command {
  // Help comes in pieces.
  let told = '';
  const program = new Command('counterfoil')
    .description('Sends payout batches once, hears their webhooks, and reconciles them to the last kobo.')
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
