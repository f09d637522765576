import { expect, it, onTestFinished } from 'vitest';
import { createJobsStore } from '../../src/core/runtime/jobs.sql.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { createGate, type Gate } from '../../src/daemon/sending-gate.ts';
import { makeHome } from '../support/cli.ts';
import { makeLedger } from '../support/ledger.ts';

const monday = '0 9 * * 1';
/** A Monday, nine o'clock in Lagos. */
const nine = '2026-11-23T08:00:00.000Z';

/** The gate at an instant, on a ledger whose submit schedule ran at `ranAt` as `ranAs` had it. */
async function gateAt(at: string, submit: string, ran?: { at: string; as: string | null }): Promise<Gate> {
  const home = await makeHome({}, { COUNTERFOIL_SCHEDULES_SUBMIT: submit });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const jobsStore = createJobsStore(ledger);
  if (ran) await jobsStore.begin('submit', { at: ran.at, since: '', by: 'serve-1', expression: ran.as });
  const clock = {
    now: () => Date.parse(at),
    iso: () => at,
    monotonic: () => 0,
    sleep: async () => undefined,
  };
  return createGate({ config: loaded.config, clock, jobsStore });
}

it.each([
  ['at once', nine, monday, { at: nine, as: monday }, nine],
  [
    'later the same day, after a crash or for what came in since',
    '2026-11-23T22:59:00.000Z',
    monday,
    { at: nine, as: monday },
    nine,
  ],
  ['not the next day', '2026-11-23T23:00:00.000Z', monday, { at: nine, as: monday }, null],
  ['not before any run', nine, monday, undefined, null],
  [
    'not after a run that another schedule ordered',
    '2026-11-23T10:00:00.000Z',
    monday,
    { at: nine, as: '* * * * *' },
    null,
  ],
  ['not after a run that a person ordered', '2026-11-23T10:00:00.000Z', monday, { at: nine, as: null }, null],
  ['never where the schedule is empty', nine, '', { at: nine, as: '' }, null],
])('sending goes by the schedule: %s', async (_, at, submit, ran, word) => {
  expect(await (await gateAt(at, submit, ran)).word()).toBe(word);
});

it('what the schedule let begin goes on past midnight, for a day at most', async () => {
  const ran = { at: nine, as: monday };
  expect(await (await gateAt('2026-11-24T07:00:00.000Z', monday, ran)).word(nine)).toBe(nine);
  expect(await (await gateAt('2026-11-24T09:00:00.000Z', monday, ran)).word(nine)).toBeNull();
  expect(
    await (await gateAt('2026-11-24T07:00:00.000Z', monday, ran)).word('2026-11-16T08:00:00.000Z'),
  ).toBeNull();
});
