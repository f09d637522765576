import type { HaltKind } from '../../../src/sending/halt.ts';
import { holdAllVerb } from '../../../src/verbs/hold-all.ts';
import { createOldCopies } from '../../simulation/old-copies.ts';
import type { Needs } from '../opening.ts';
import type { Move, Seat, Stage } from '../stage.ts';
import { meetPosts, own } from './states.ts';
import { ada } from './verbs.ts';

/** What the world does so that sending is halted for this cause. */
const ways: Record<HaltKind, { needs?: Needs; begin(stage: Stage, seat: Seat): void }> = {
  barrier: {
    needs: { oldCopy: true },
    begin(stage, seat) {
      createOldCopies(stage.town, stage.files, stage.wentBack).start();
      own(stage, seat, [{}, {}]);
    },
  },
  person: {
    begin: (stage) =>
      stage.command(async (app) => {
        const halted = stage.town.brakes.holding(null);
        await holdAllVerb.run(app, {}, ada);
        halted();
      }),
  },
  account: {
    begin(stage, seat) {
      meetPosts(stage, seat, 'halt 10', 1, true);
      own(stage, seat, [{}, {}]);
    },
  },
  signature: {
    begin(stage, seat) {
      stage.switches.codeIs22 = true;
      meetPosts(stage, seat, 'halt 10', 1, true);
      own(stage, seat, [{}, {}]);
    },
  },
  unknowns: {
    needs: { haltAfterUnknown: 3 },
    begin(stage, seat) {
      meetPosts(stage, seat, 'lost before acceptance', 3, true);
      own(stage, seat, [{}, {}, {}]);
    },
  },
  canary_open: {
    needs: { brakes: { canary: 1, canaryHours: 1 } },
    begin(stage, seat) {
      meetPosts(stage, seat, 'lost after acceptance', 1, true);
      own(stage, seat, [{}, {}]);
    },
  },
  canary_failed: {
    needs: { brakes: { canary: 1, canaryHours: 1 } },
    begin(stage, seat) {
      stage.switches.settlements.set(`B${seat.number}-1`, { ms: 3_000, paid: false });
      own(stage, seat, [{}, {}]);
    },
  },
};

export const haltKinds = Object.keys(ways) as HaltKind[];

export function haltMove(kind: HaltKind): Move {
  const { needs, begin } = ways[kind];
  const sql =
    kind === 'barrier'
      ? "select 1 from meta where key in ('behind', 'listing_due')"
      : `select 1 from halts where kind = '${kind}'`;
  return {
    touchesMoney: false,
    ...(needs && { needs }),
    begin(stage, seat) {
      begin(stage, seat);
      stage.when(
        () => !stage.town.fall.shut && stage.town.inspector.rows(sql).length > 0,
        () => stage.note(seat, true, kind),
      );
    },
  };
}
