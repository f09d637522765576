import { accountOf, bring, otherAccountOf } from '../files.ts';
import { isHeldFor, type Move, payoutsOf } from '../stage.ts';
import { own } from './states.ts';

/** The month before has a number of its own, far from those of the seats. */
const before = 500;

/**
 * A month comes, and then the next one, of which one row pays another account: only that row waits for a second person
 * (P37).
 */
export const changedPayeeMove: Move = {
  touchesMoney: true,
  needs: { brakes: { changedRows: true } },
  begin(stage, seat) {
    const accounts = [0, 1, 2].map((i) => accountOf(seat.number, i));
    const earlier = accounts.map((account, i) => ({ account, minor: 103_000 + i }));
    const first = bring(stage, seat.number + before, earlier);
    stage.when(
      () => payoutsOf(stage, first).some(({ state }) => state === 'pending' || state === 'success'),
      () => {
        const later = accounts.map((account, i) => ({ account, minor: 104_000 + i }));
        const changed = { account: otherAccountOf(seat.number, 1), minor: 104_001, changed: true };
        own(stage, seat, later.with(1, changed));
        stage.when(
          () => isHeldFor(stage, seat.file, 'approval'),
          () => stage.note(seat, true, 'a changed row waits'),
        );
      },
    );
  },
};
