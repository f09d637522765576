import type { z } from 'zod';
import {
  approveShape,
  cancelShape,
  holdAllShape,
  holdShape,
  releaseAllShape,
  releaseShape,
} from './batch-shapes.ts';
import {
  ackShape,
  discrepanciesShape,
  exportShape,
  importShape,
  resendShape,
  retryShape,
  settleShape,
} from './decision-shapes.ts';
import { checkShape, dryRunShape, submitShape } from './intake-shapes.ts';
import {
  archiveShape,
  backupShape,
  migrateShape,
  restoreShape,
  upgradeCheckShape,
  upgradeShape,
  verifyShape,
} from './keeping-shapes.ts';
import { batchesShape, payeesShape, payoutsShape } from './list-shapes.ts';
import { closePeriodShape, compareShape, reconcileShape, reportShape } from './run-shapes.ts';
import {
  completeShape,
  completionShape,
  configShape,
  demoShape,
  doctorShape,
  errorShape,
  helpShape,
  initShape,
  sandboxShape,
  serveShape,
  versionShape,
} from './setup-shapes.ts';
import { statusShape } from './status-shapes.ts';
import { collectionStoryShape, storyShape } from './story-shapes.ts';

type Shape = { does: string; shape: z.ZodType };

/** Every object that a command prints with `--json`, beside `schema`. docs/json.md is made of it. */
export const jsonShapes = {
  init: { does: 'The paths that it wrote, and those that were there.', shape: initShape },
  check: {
    does: 'One entry a file. `problems` is empty for a file that can be submitted.',
    shape: checkShape,
  },
  submit: {
    does: 'The batches that it took in or sent from, and the files that it refused.',
    shape: submitShape,
  },
  'submit --dry-run': { does: 'What `submit` would take in. Nothing was recorded.', shape: dryRunShape },
  reconcile: {
    does: 'The run and its verdicts. `complete` is false when the list could not be proven whole.',
    shape: reconcileShape,
  },
  report: { does: 'The files that it wrote.', shape: reportShape },
  'report --against': {
    does: 'What changed between two runs, and the file that says so.',
    shape: compareShape,
  },
  status: { does: 'Where everything stands.', shape: statusShape },
  show: {
    does: 'The whole story of one payout. Account numbers are masked unless `--full-accounts`.',
    shape: storyShape,
  },
  'show COLLECTION': { does: 'The whole story of one collection.', shape: collectionStoryShape },
  payouts: { does: 'The payouts that match, and the totals of all that match.', shape: payoutsShape },
  batches: { does: 'All batches.', shape: batchesShape },
  payees: { does: 'The accounts that were paid before, each with its names.', shape: payeesShape },
  discrepancies: {
    does: 'The open discrepancies, the gravest first. `ack` and `resolve` print their own objects.',
    shape: discrepanciesShape,
  },
  'discrepancies --export': { does: 'The workbook that it wrote.', shape: exportShape },
  'discrepancies --import': {
    does: 'How many decisions of the workbook it recorded. With `problems` it recorded none.',
    shape: importShape,
  },
  retry: {
    does: 'The evidence, its digest, and what was decided on it. Where nothing was decided, `error` or `nothing_needed` says why. Without `--yes` and `--evidence`, `error` gives the command that decides.',
    shape: retryShape,
  },
  settle: {
    does: 'The evidence that the decision was based on, and what became of each payout.',
    shape: settleShape,
  },
  resend: { does: 'What the service answered to each request.', shape: resendShape },
  approve: { does: 'Who approved what, and how many payouts may go now.', shape: approveShape },
  hold: { does: 'How many payouts it held, and what was already on its way.', shape: holdShape },
  'hold --mode': { does: 'Everything is held.', shape: holdAllShape },
  release: { does: 'How many payouts may go, and what still holds the batch.', shape: releaseShape },
  'release --mode': {
    does: 'Whether a halt was lifted, and whether another remains.',
    shape: releaseAllShape,
  },
  cancel: {
    does: 'With a reference: `reference` and its state. With a batch: what was already on its way.',
    shape: cancelShape,
  },
  ack: {
    does: 'The discrepancies that it changed, and those that were so already. `resolve` prints the same.',
    shape: ackShape,
  },
  'close-period': { does: 'The frozen month and its digest.', shape: closePeriodShape },
  doctor: { does: 'One entry a check. `ok` is null for a check that was skipped.', shape: doctorShape },
  'config show': {
    does: 'Every effective value with its origin. Of a secret it says only whether it is set.',
    shape: configShape,
  },
  verify: {
    does: 'One entry a check, and for each batch a digest that you can keep elsewhere.',
    shape: verifyShape,
  },
  backup: { does: 'The copy and what it holds.', shape: backupShape },
  restore: { does: 'What was restored, and where the ledger before it is now.', shape: restoreShape },
  archive: {
    does: 'The archive and what it holds, or that there is nothing to archive.',
    shape: archiveShape,
  },
  upgrade: {
    does: 'Whether the ledger was upgraded, and the backup of the one before.',
    shape: upgradeShape,
  },
  'upgrade --check': { does: 'Whether the ledger is older than the program.', shape: upgradeCheckShape },
  migrate: {
    does: 'Both places, and the digest that proves that they hold the same.',
    shape: migrateShape,
  },
  sandbox: { does: 'Its first line, printed when it is ready.', shape: sandboxShape },
  serve: { does: 'Its first line, printed when it is ready.', shape: serveShape },
  demo: { does: 'Whether all went as planned, and the reports.', shape: demoShape },
  completion: { does: 'The script for the shell.', shape: completionShape },
  complete: { does: 'The names that a script of `completion` offers.', shape: completeShape },
  '--help': { does: 'The help of any command.', shape: helpShape },
  '--version': { does: 'The version of the program.', shape: versionShape },
  error: { does: 'Any command that fails without an object of its own.', shape: errorShape },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof jsonShapes;
/** The fields that a command prints with `--json`. */
export type JsonOf<Name extends ShapeName> = z.input<(typeof jsonShapes)[Name]['shape']>;
/** What a command prints with `--json`, with the name of its shape. */
export type CommandJson = { [Name in ShapeName]: { shape: Name; fields: JsonOf<Name> } }[ShapeName];
