import { describe, expect, it } from 'vitest';
import { roleNames } from '../../src/core/settings/settings-schema.ts';
import { entryName } from '../../src/faces/terminal/entries/entry.ts';
import { entryGroups } from '../../src/faces/terminal/entries/groups.ts';
import { allVerbs, shapeOfVerb, type VerbName } from '../../src/verbs/verbs.ts';

const commands = entryGroups.flatMap(([, entries]) => entries.map(entryName));

/** The commands that only look. */
const looking = ['status', 'batches', 'payouts', 'payees', 'show', 'check', 'verify', 'doctor'];
const helping = ['config', 'completion'];
/** Those that make, move or keep a ledger as a whole, or run a process. */
const keeping = ['init', 'demo', 'sandbox', 'serve', 'restore', 'archive', 'upgrade', 'migrate'];

/** The command of a verb that has another name. */
const commandOf: Partial<Record<VerbName, string>> = {
  'take-in': 'submit',
  'hold-all': 'hold',
  'release-all': 'release',
  reject: 'cancel',
  acknowledge: 'ack',
  // The decisions of a workbook.
  decide: 'discrepancies',
};

describe('the list of verbs', () => {
  it('has every command that changes something in the ledger', () => {
    const covered = allVerbs.map(({ name }) => commandOf[name] ?? name);
    const others = [...looking, ...helping, ...keeping];
    expect([...new Set([...covered, ...others])].toSorted()).toEqual(commands.toSorted());
    expect(others.filter((name) => covered.includes(name))).toEqual([]);
  });

  it('names each verb once, with a right that a token can have', () => {
    expect(new Set(allVerbs.map(({ name }) => name)).size).toBe(allVerbs.length);
    for (const { can } of allVerbs) expect(roleNames).toContain(can);
  });

  it('needs the right to decide for all but files, approvals and reports', () => {
    const others = allVerbs.filter(({ can }) => can !== 'decide').map(({ name, can }) => [name, can]);
    expect(Object.fromEntries(others)).toEqual({
      'take-in': 'drop',
      approve: 'approve',
      reject: 'approve',
      report: 'read',
    });
  });

  it('answers each verb in the JSON of its command', () => {
    const answering = (name: VerbName): string => (name === 'resolve' ? 'ack' : (commandOf[name] ?? name));
    for (const { name } of allVerbs) expect(shapeOfVerb[name].split(' ')[0]).toBe(answering(name));
  });
});

/** A right input of each verb. */
const inputs: Record<VerbName, object> = {
  'take-in': { files: ['/home/pay.csv'], figures: { rows: 12, totals: { NGN: '1200.00' } }, dryRun: true },
  submit: {},
  approve: { batch: 'b-1', digest: 'd' },
  reject: { batch: 'november', reason: 'the wrong month' },
  hold: { batch: 'b-1' },
  'hold-all': {},
  release: { batch: 'b-1', shown: ['m'] },
  'release-all': { note: 'account closed', evidence: 'e' },
  cancel: { reference: 'PAY-1' },
  retry: { references: ['PAY-1'], since: '2026-11-21T00:00:00.000Z', digest: 'd' },
  settle: {
    payouts: [{ reference: 'PAY-1', digest: 'd' }],
    as: 'failed',
    note: 'bank letter',
    since: '2026-11-21T00:00:00.000Z',
  },
  resend: { references: ['PAY-1'], collections: false },
  reconcile: { full: true, followUp: false },
  report: { batch: 'b-1' },
  'close-period': { month: '2026-10' },
  acknowledge: { ids: ['D-1'], note: '', files: ['a.csv'] },
  resolve: { filter: { kind: 'amount_conflict' }, note: 'recalled' },
  decide: { decisions: [{ verdict: 'resolve', ids: ['D-1'], note: 'recalled', shown: { 'D-1': 'm' } }] },
  backup: { file: '/mnt/usb/ledger.backup' },
};

it.each(allVerbs.map((verb) => [verb.name, verb] as const))('%s refuses unknown keys', (name, verb) => {
  const input = inputs[name];
  expect(verb.input.safeParse(input).error).toBeUndefined();
  expect(verb.input.safeParse({ ...input, everything: true }).success).toBe(false);
});
