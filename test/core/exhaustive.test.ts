import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { beginAttempts } from '../../src/core/ledger/attempts.ts';
import { record } from '../../src/core/ledger/record.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { openDay } from '../../src/sending/limits.sql.ts';
import { misfits } from '../simulation/defects/apply.ts';
import type { Defect } from '../simulation/defects/defect.ts';
import { createRandom } from '../simulation/random.ts';
import { addBatch, at, makeLedger, payoutById, type TestLedger } from '../support/ledger.ts';
import { repeats } from '../support/repeats.ts';
import { type Act, applied, fresh, type Payout, possible, type Worlds } from './exhaustive/payout-model.ts';
import { search } from './exhaustive/search.ts';

type Case = { worlds: Worlds; depth: number };
const ofKind = (kind: Worlds['kind'], forgetful: boolean, depths: readonly number[]): Case[] =>
  depths.map((depth, i) => ({ worlds: { kind, attempts: i + 1, forgetful }, depth }));
/** As deep as no new state is left where nothing bounds it. */
const all = 40;
const cases: Case[] = repeats()
  ? [
      ...ofKind('honest', false, [all, all, 6]),
      ...ofKind('lying', false, [all, all, 6]),
      ...ofKind('lying', true, [9, 7, 6]),
    ]
  : [
      ...ofKind('honest', false, [6, 4, 3]),
      ...ofKind('lying', false, [4, 3, 3]),
      ...ofKind('lying', true, [4, 3, 3]),
    ];

describe('P4, P14, P16, P17, P31, P36: every order of events, each of them lost or repeated', () => {
  const told: string[] = [];
  afterAll(() => process.stdout.write(`${told.join('\n')}\n`));

  it.each(cases)(
    'P4: no way breaks a rule: $worlds, $depth events',
    ({ worlds, depth }) => {
      const { states, steps, sequences, closedAt, fault } = search(worlds, depth);
      const name = `${worlds.kind}${worlds.forgetful ? ', forgetful' : ''}, ${worlds.attempts} attempts`;
      const end = closedAt === null ? `${depth} events` : `no new state after ${closedAt} events`;
      told.push(`${name}: ${states} states, ${steps} steps, ${sequences} sequences, ${end}`);
      expect(fault, fault?.way.join('\n')).toBeNull();
    },
    600_000,
  );
});

const file = 'src/core/domain/transition.ts';
const defects: Defect[] = [
  {
    name: 'takes a refusal of one attempt for the end of all (P4)',
    ...{ file, find: "now.otherAttemptOpen ? 'unknown' : 'refused'", replace: "'refused'" },
  },
  {
    name: 'lets one failed transfer of several end the payout (P17)',
    ...{
      file: 'src/core/domain/outcome.ts',
      find: '(possiblyTaken > 1 || forgotten === true) && transfers < possiblyTaken',
      replace: 'transfers < 0 * possiblyTaken && forgotten',
    },
  },
  {
    name: 'takes one run’s word for a return (P36)',
    ...{ file, find: 'if (!sure) return keep', replace: 'if (!sure && now.forgetful) return keep' },
  },
];

it.each(defects)('the search sees a core that $name', (defect) => {
  expect(misfits(defect), 'no longer held exactly once').toEqual([]);
  const preload = ['--import', new URL('../simulation/defects/put-in.ts', import.meta.url).href];
  const run = new URL('./exhaustive/run.ts', import.meta.url).pathname;
  const out = execFileSync(process.execPath, [...preload, run, 'honest', '2', '7'], {
    env: { ...process.env, DEFECT: JSON.stringify([defect]) },
    encoding: 'utf8',
  });
  const { fault }: { fault: { rule: string; way: string[] } | null } = JSON.parse(out);
  expect(fault?.rule).toMatch(/^P\d+: /);
});

it('P14: the real ledger ends as the model of it does, in some hundred walks', async () => {
  const ledger = await makeLedger();
  const random = createRandom(36);
  const walks = repeats() ? 600 : 60;
  const ids = await addBatch(
    ledger,
    Array.from({ length: walks }, (_, i) => `R-${i}`),
  );
  for (const id of ids) {
    const worlds: Worlds = { kind: 'lying', attempts: 3, forgetful: false };
    let now = fresh('ready');
    const attempts: bigint[] = [];
    const way: string[] = [];
    for (let turn = 1; turn <= 12; turn++) {
      // What a payout of one send is shown does not load its attempts; who is not shown is the ledger's own finding.
      const acts = possible(now, worlds).filter(({ unshown }) => unshown === undefined);
      const act = acts[random.between(0, acts.length - 1)] ?? { event: { kind: 'release' } };
      const step = applied(now, act, false);
      way.push(act.event.kind);
      await hear(ledger, { id, now, act, attempts, turn });
      now = step?.after ?? now;
      const { state, evidence, unseen_sends } = await payoutById(ledger, id);
      const { state: expected, evidence: by, unseen } = now;
      expect({ state, evidence, unseen: Number(unseen_sends) }, way.join(', ')).toEqual({
        ...{ state: expected, evidence: by, unseen },
      });
    }
  }
  await ledger.remove();
}, 300_000);

type Heard = { id: bigint; now: Payout; act: Act; attempts: bigint[]; turn: number };

async function hear(ledger: TestLedger, { id, now, act, attempts, turn }: Heard): Promise<void> {
  await ledger.write(async (trx) => {
    let { event } = act;
    if (event.kind === 'outcome' || event.kind === 'abandoned')
      event = { ...event, attemptId: attempts[Number(event.attemptId)] ?? 0n };
    if (event.kind === 'intent' && now.state === 'ready') {
      const dayId = await openDay(trx, { brakes: noBrakes, at: at(turn) });
      const begun = { workerId: 'w-1', at: at(turn), dayId, originId: 0n, clockOffMs: null };
      const numbered = [{ payout_id: id, number: BigInt(attempts.length + 1) }];
      const attemptId = (await beginAttempts(trx, begun, numbered)).get(id) ?? 0n;
      attempts.push(attemptId);
      event = { ...event, attemptId };
    }
    await record(trx, at(turn), [{ payoutId: id, source: 'test', event }]);
  });
}
