import { localTimeIn } from '../../simulation/local-time.ts';
import type { Move, Stage } from '../stage.ts';
import { own } from './states.ts';

const dayMs = 86_400_000;

/** The day after the one on which the play begins. */
function tomorrowOf({ town }: Stage): string {
  const { startsAt, brakes } = town.weather;
  return localTimeIn(brakes.timezone)(startsAt + dayMs).date;
}

/** A file comes of which a part is for tomorrow (P38). Its play goes on until that day has come. */
export const tomorrowMove: Move = {
  touchesMoney: true,
  begin(stage, seat) {
    const payOn = tomorrowOf(stage);
    const file = own(stage, seat, [{ payOn }, {}, { payOn }]);
    stage.waitsUntil = payOn;
    stage.when(
      () => stage.town.inspector.rows("select 1 from payouts where pay_on <> ''").length >= 2,
      () => stage.note(seat, true, `${file.name} waits until ${payOn}`),
    );
  },
};
