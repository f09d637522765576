import * as submitJob from '../../../jobs/submit.ts';
import { holdVerb } from '../../../src/verbs/hold.ts';
import { bring, isLoaded } from '../files.ts';
import { batchOf, isHeldFor, type Move, payoutsOf, type Stage } from '../stage.ts';
import { meetPosts, own } from './states.ts';
import { ada, release, retry } from './verbs.ts';

/** The file that waits has a number of its own, far from those of the seats. */
const before = 600;
const twoDays = 2 * 86_400_000;

/**
 * A file with an invoice waits, and a newer file with that invoice is refused. Then the older one pays it: now the newer one
 * is paid again only after a person saw that (P23). Every other play lets a second host release the older one, whose clock
 * is two days behind.
 */
export const olderPaysMove: Move = {
  touchesMoney: false,
  needs: { unique: true, clockSteps: true },
  begin(stage, seat) {
    const invoice = `INV ${seat.number}`;
    const older = bring(stage, seat.number + before, [{ invoice }], { sends: false });
    const newer = `B${seat.number}-1`;
    const stateOf = (file: typeof older | null): string => payoutsOf(stage, file)[0]?.state ?? '';
    const letGo = (file: typeof older, offMs: number): void =>
      stage.command(
        async (app) => {
          await release(stage, app, batchOf(stage, file)?.id ?? '');
          await submitJob.run(app);
        },
        (life) => Object.assign(life, { offMs }),
      );
    stage.when(
      () => isLoaded(stage, older),
      () =>
        stage.command(async (app) => {
          const batch = batchOf(stage, older)?.id ?? '';
          const held = stage.town.brakes.holding(batch);
          await holdVerb.run(app, { batch }, ada);
          held();
          meetPosts(stage, seat, 'refused 24', 1, true);
          const file = own(stage, seat, [{ invoice: invoice.toLowerCase() }]);
          stage.mustWait.set(file, 'value_again');
          stage.when(
            () => isHeldFor(stage, file, 'value_again'),
            () => letGo(file, 0),
          );
          stage.when(
            () => stateOf(file) === 'refused',
            () => letGo(older, stage.number % 2 === 1 ? -twoDays : 0),
          );
          stage.when(
            () => stateOf(file) === 'refused' && ['pending', 'success'].includes(stateOf(older)),
            () =>
              stage.command(async (again) => {
                const { did, what } = await retry(stage, again, [newer]);
                if (did) judgeLook(stage, { newer, older: older.all });
                stage.note(seat, did, what);
              }),
          );
        }),
    );
  },
};

/** P23: what pays it again begins as held. What the older file paid before, who released the newer one saw. */
function judgeLook({ town }: Stage, { newer, older }: { newer: string; older: string[] }): void {
  const sentAt = (reference: string): number => town.begunAt(town.inspector.lastAttempt(reference)?.id ?? 0);
  if (older.every((one) => sentAt(one) < sentAt(newer))) return;
  const sql = `select h.to_state from history h join payouts s on s.id = h.payout_id
    join payouts n on n.id = s.successor_of where n.reference = ? and h.seq = 1`;
  for (const { to_state: state } of town.inspector.rows<{ to_state: string }>(sql, newer))
    if (state !== 'held')
      town.world.violate('P23: what another file has paid since waits', `it is ${state}`, newer);
}
