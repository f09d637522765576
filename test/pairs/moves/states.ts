import type { PayoutState } from '../../../src/core/domain/payout.ts';
import type { PostFault } from '../../simulation/coverage.ts';
import { accountOf, bring } from '../files.ts';
import { type Fault, type Move, payoutsOf, type Seat, type Stage } from '../stage.ts';
import { cancel } from './verbs.ts';

/** Two rows of which both pay one account the same: the batch is held until a person has looked. */
export const twinRows = (number: number) => [
  {},
  { account: accountOf(number, 0), minor: 100_000 + number * 1_000 },
];

/** The seat's own file, brought in now. */
export function own(
  stage: Stage,
  seat: Seat,
  rows: Parameters<typeof bring>[2],
  how: Parameters<typeof bring>[3] = {},
) {
  const file = bring(stage, seat.number, rows, how);
  seat.file = file;
  seat.touched.push(...file.all);
  return file;
}

/** So many POSTs meet this, those of the other seats' files left out; or `own`: only those of its own file. */
export function meetPosts(stage: Stage, seat: Seat, name: PostFault, left: number, own = false): void {
  const theirs = new Set(
    seat.others.flatMap(({ file }) => file?.rows.map(({ reference }) => reference) ?? []),
  );
  const of = (reference: string): boolean =>
    own ? reference.startsWith(`B${seat.number}-`) : !theirs.has(reference);
  const fault: Fault<PostFault> = { name, left, of };
  stage.switches.posts.unshift(fault);
}

function settleOwn(stage: Stage, seat: Seat, how: { ms: number; paid: boolean }): void {
  for (const i of [1, 2, 3]) stage.switches.settlements.set(`B${seat.number}-${i}`, how);
}

/** What the world does to a payout of a file of its own, so that it comes to the state. */
const ways: Record<PayoutState, (stage: Stage, seat: Seat) => void> = {
  held: (stage, seat) => own(stage, seat, twinRows(seat.number)),
  ready: (stage, seat) => own(stage, seat, [{}, {}], { sends: false }),
  sending(stage, seat) {
    meetPosts(stage, seat, 'hang, not taken', 1, true);
    own(stage, seat, [{}, {}]);
  },
  pending(stage, seat) {
    settleOwn(stage, seat, { ms: 80 * 60_000, paid: true });
    own(stage, seat, [{}, {}]);
  },
  success(stage, seat) {
    settleOwn(stage, seat, { ms: 3_000, paid: true });
    own(stage, seat, [{}, {}]);
  },
  failed(stage, seat) {
    settleOwn(stage, seat, { ms: 3_000, paid: false });
    own(stage, seat, [{}, {}]);
  },
  refused(stage, seat) {
    meetPosts(stage, seat, 'refused 24', 1, true);
    own(stage, seat, [{}, {}]);
  },
  unknown(stage, seat) {
    meetPosts(
      stage,
      seat,
      stage.number % 2 === 1 ? 'lost before acceptance' : 'lost after acceptance',
      1,
      true,
    );
    own(stage, seat, [{}, {}]);
  },
  cancelled(stage, seat) {
    const file = own(stage, seat, twinRows(seat.number));
    stage.when(
      () => payoutsOf(stage, file).some(({ state }) => state === 'held'),
      () =>
        stage.command(async (app) => {
          await cancel(stage, app, payoutsOf(stage, file)[0]?.batch_id ?? '');
        }),
    );
  },
  returned(stage, seat) {
    settleOwn(stage, seat, { ms: 3_000, paid: true });
    const file = own(stage, seat, [{}, {}]);
    const first = file.rows[0]?.reference ?? '';
    stage.when(
      () => payoutsOf(stage, file)[0]?.state === 'success' && stage.town.service.book.timesPaid(first) > 0,
      () => {
        for (const entry of stage.town.service.book.entries(first)) stage.town.service.comeBack(entry);
        stage.daemon.reconcile();
      },
    );
  },
};

/** Money: what a payout that was sent can become by the service's word alone. */
const moved: readonly PayoutState[] = ['sending', 'pending', 'unknown', 'failed', 'refused', 'returned'];

export function stateMove(state: PayoutState): Move {
  return {
    touchesMoney: moved.includes(state),
    // A return is a word of the service's own unless it shows it as failed.
    begin(stage, seat) {
      ways[state](stage, seat);
      stage.when(
        () => payoutsOf(stage, seat.file).some((one) => one.state === state),
        () => stage.note(seat, true, state),
      );
    },
  };
}
