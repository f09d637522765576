import type { Move, Seat, Stage } from '../stage.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

const monthEnd = Date.parse('2026-11-01T04:00Z');
const goesBack = Date.parse('2026-11-01T06:00Z');

/** The clock shows so much more, or less, from now until the calm. */
function step(ms: number): Omit<Move, 'touchesMoney'> {
  return {
    needs: { clockSteps: true },
    begin(stage, seat) {
      stage.town.world.wallError += ms;
      stage.note(seat, true, 'the clock is wrong');
    },
  };
}

/** The moment comes by itself. */
function moment(at: number, startsAt: number): Omit<Move, 'touchesMoney'> {
  return {
    needs: { startsAt },
    begin(stage, seat) {
      seat.comesAt = at + 1_000;
      stage.when(
        () => stage.town.world.now() >= at,
        () => stage.note(seat, true, 'it came'),
      );
    },
  };
}

const ways = {
  'forward by minutes': step(40 * minute),
  'back by minutes': step(-40 * minute),
  'forward by days': step(3 * day),
  'back by days': step(-3 * day),
  'an hour that happens twice': moment(goesBack, goesBack - 13 * minute),
  'the end of a month': moment(monthEnd, monthEnd - 13 * minute),
  'the machine sleeps': {
    begin(stage: Stage, seat: Seat) {
      // Those that have just begun sleep too.
      stage.town.world.after(stage.random.between(0, 400), null, () => {
        stage.town.sleep(40 * minute);
        stage.note(seat, true, 'it sleeps');
      });
    },
  },
} satisfies Record<string, Omit<Move, 'touchesMoney'>>;
export type ClockKind = keyof typeof ways;
export const clockKinds = Object.keys(ways) as ClockKind[];

export function clockMove(kind: ClockKind): Move {
  return { touchesMoney: false, ...ways[kind] };
}
