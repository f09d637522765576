import type { ShapeName } from '../core/shapes/json-shapes.ts';
import { approveVerb } from './approve.ts';
import { backupVerb } from './backup.ts';
import { cancelVerb } from './cancel.ts';
import { closePeriodVerb } from './close-period.ts';
import { acknowledgeVerb, decideVerb, resolveVerb } from './decide-discrepancies.ts';
import { holdVerb } from './hold.ts';
import { holdAllVerb } from './hold-all.ts';
import { reconcileVerb } from './reconcile.ts';
import { rejectVerb } from './reject.ts';
import { releaseVerb } from './release.ts';
import { releaseAllVerb } from './release-all.ts';
import { reportVerb } from './report.ts';
import { resendVerb } from './resend.ts';
import { retryVerb } from './retry.ts';
import { settleVerb } from './settle.ts';
import { submitVerb } from './submit.ts';
import { takeInVerb } from './take-in.ts';

/** Every verb, with the right that it needs, its input, and whether it touches money. */
export const allVerbs = [
  takeInVerb,
  submitVerb,
  approveVerb,
  rejectVerb,
  holdVerb,
  holdAllVerb,
  releaseVerb,
  releaseAllVerb,
  cancelVerb,
  retryVerb,
  settleVerb,
  resendVerb,
  reconcileVerb,
  reportVerb,
  closePeriodVerb,
  acknowledgeVerb,
  resolveVerb,
  decideVerb,
  backupVerb,
] as const;

export type VerbName = (typeof allVerbs)[number]['name'];

/** The JSON in which each verb is answered. */
export const shapeOfVerb = {
  'take-in': 'submit',
  submit: 'submit',
  approve: 'approve',
  reject: 'cancel',
  hold: 'hold',
  'hold-all': 'hold --mode',
  release: 'release',
  'release-all': 'release --mode',
  cancel: 'cancel',
  retry: 'retry',
  settle: 'settle',
  resend: 'resend',
  reconcile: 'reconcile',
  report: 'report',
  'close-period': 'close-period',
  acknowledge: 'ack',
  resolve: 'ack',
  decide: 'discrepancies --import',
  backup: 'backup',
} as const satisfies Record<VerbName, ShapeName>;
