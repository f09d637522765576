import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { batchOf, csv, refusal, row, type Setting, setting } from './setting.ts';

const inbox = { origin: 'inbox' } as const;
const always = 'submission: { approval: always }';

/** Intake in which somebody acts between the two passes over a file. */
function meeting(s: Setting, act: () => void) {
  const write: typeof s.ledger.write = (work) => {
    act();
    return s.ledger.write(work);
  };
  return s.built({ ledger: { ...s.ledger, write } });
}

it('does not take a file that another one replaced while it was read, although the bytes are the same', async () => {
  const s = await setting(always);
  const file = s.drop('pay.csv', csv(row('A-1')));
  const another = s.drop('.another', csv(row('A-1')));
  const taken = await meeting(s, () => renameIfThere(another, file)).takeIn(file, inbox);
  expect(refusal(taken)).toContain('changed while the file was read');
  expect(await s.ledger.db.selectFrom('batches').select('id').execute()).toEqual([]);
});

it('does not take a file that was written again while it was read, although the bytes are the same', async () => {
  const s = await setting(always);
  const file = s.drop('pay.csv', csv(row('A-1')));
  let isDone = false;
  const writeAgain = (): void => {
    if (!isDone) writeFileSync(file, csv(row('A-1')));
    isDone = true;
  };
  expect(refusal(await meeting(s, writeAgain).takeIn(file, inbox))).toContain('changed while');
});

it.each([
  ['its group', 0o664, always],
  ['everybody', 0o646, 'submission: { approval: above, approval_above: { NGN: "5" } }'],
  ['its group', 0o660, 'submission: { payees: approve_changed }'],
])(
  'refuses a file of the inbox that %s may write, where a second person is asked for',
  async (_, mode, rule) => {
    const s = await setting(rule);
    const file = s.drop('pay.csv', csv(row('A-1')));
    chmodSync(file, mode);
    const dry = await s.intake.takeIn(file, { ...inbox, dryRun: true });
    expect(dry).toMatchObject({ checked: { ok: false } });
    const why = refusal(await s.intake.takeIn(file, inbox));
    expect(why).toContain(`others than its owner may write it (mode ${mode.toString(8).padStart(4, '0')})`);
    expect(why).toContain('chmod go-w');

    const own = s.drop('pay.csv', csv(row('A-1')));
    chmodSync(own, 0o640);
    batchOf(await s.intake.takeIn(own, inbox));
  },
);

it('takes a file that others may write where one person is enough, or where a person names it', async () => {
  const [alone, named] = [await setting(), await setting(always)];
  const file = alone.drop('pay.csv', csv(row('A-1')));
  chmodSync(file, 0o666);
  batchOf(await alone.intake.takeIn(file, inbox));

  const given = named.drop('pay.csv', csv(row('A-1')));
  chmodSync(given, 0o666);
  batchOf(await named.intake.takeIn(given, { origin: 'named' }));
});

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // It was renamed before.
  }
}
