import { describe, expect, it } from 'vitest';
import {
  type AlertChange,
  type AlertFinding,
  alertChanges,
  repeatMs,
  type StandingAlert,
} from '../../../src/faces/alerts/changes.ts';
import { plainFinding } from '../../../src/findings/finding.ts';
import type { AlertKind } from '../../../src/findings/kinds.ts';

const now = Date.parse('2026-11-21T10:00:00.000Z');
const hour = 3_600_000;
const year = 365 * 24 * hour;

function condition(kind: AlertKind, count = 1, mark = 1n): AlertFinding {
  return { ...plainFinding(kind, 's', count), mark };
}

/** An alert that was told so long ago, by a clock that was so far ahead. */
function alert(kind: AlertKind, { agoMs = 0, count = 1, mark = 1n } = {}): StandingAlert {
  const notedMs = now - agoMs;
  const repeat = { notedMs, untilMs: notedMs + repeatMs };
  return { kind, subject: 's', count, mark, raisedAt: '2026-11-20T10:00:00.000Z', repeat };
}

const everything = () => true;
const changes = (conditions: AlertFinding[], alerts: StandingAlert[], sees: () => boolean = everything) =>
  alertChanges(conditions, alerts, { nowMs: now, sees }).map(textOf);

function textOf(one: AlertChange): string {
  const { kind } = one.change === 'raised' ? one.finding : one.alert;
  return `${one.change} ${kind}${one.change === 'rebased' ? ` ${one.leftMs / hour}h` : ''}`;
}

describe('what people are told', () => {
  const cases: [title: string, conditions: AlertFinding[], alerts: StandingAlert[], told: string[]][] = [
    ['nothing while nothing is wrong', [], [], []],
    ['a new condition', [condition('sending_halted')], [], ['raised sending_halted']],
    [
      'nothing more within a day',
      [condition('sending_halted')],
      [alert('sending_halted', { agoMs: 23 * hour })],
      [],
    ],
    [
      'the same again after a day',
      [condition('sending_halted')],
      [alert('sending_halted', { agoMs: 24 * hour })],
      ['repeated sending_halted'],
    ],
    ['the end of a condition', [], [alert('sending_halted')], ['cleared sending_halted']],
    [
      'a further case, by a newer id although the count is the same',
      [condition('payout_unknown', 1, 2n)],
      [alert('payout_unknown', { agoMs: hour })],
      ['grown payout_unknown'],
    ],
    [
      'a further case, by the count although no id is newer',
      [condition('discrepancy_high', 2)],
      [alert('discrepancy_high', { agoMs: hour })],
      ['grown discrepancy_high'],
    ],
    [
      'further cases once in a quarter of an hour',
      [condition('payout_unknown', 2, 2n)],
      [alert('payout_unknown', { agoMs: hour / 6 })],
      [],
    ],
    [
      'nothing where a number says something else than cases',
      [condition('disk_low', 200)],
      [alert('disk_low', { agoMs: hour, count: 100 })],
      [],
    ],
    [
      'nothing when cases become fewer',
      [condition('payout_unknown', 1)],
      [alert('payout_unknown', { agoMs: hour, count: 5 })],
      [],
    ],
    [
      'each on its own',
      [condition('sending_halted'), condition('disk_low')],
      [alert('disk_low'), alert('canary_failed')],
      ['raised sending_halted', 'cleared canary_failed'],
    ],
    [
      'P33: the same wait from now when the clock was set back by a year, and nothing yet',
      [condition('sending_halted')],
      [alert('sending_halted', { agoMs: -year })],
      ['rebased sending_halted 24h'],
    ],
    [
      'P33: nothing later than in a day, whatever a clock wrote',
      [condition('sending_halted')],
      [{ ...alert('sending_halted', { agoMs: -hour }), repeat: { notedMs: now + 1, untilMs: now + year } }],
      ['rebased sending_halted 24h'],
    ],
  ];
  it.each(cases)('tells %s', (_, conditions, alerts, told) => {
    expect(changes(conditions, alerts)).toEqual(told);
  });

  it('leaves alone what this process cannot see', () => {
    expect(changes([], [alert('disk_low')], () => false)).toEqual([]);
  });
});
