import type { PostFault, QuestionFault, WebhookFault } from '../../simulation/coverage.ts';
import { type ListFlawKind, stranger } from '../../simulation/list-flaw.ts';
import type { Move, Seat, Stage } from '../stage.ts';
import { meetPosts, own } from './states.ts';

const year = 365 * 24 * 3_600_000;

/** As often one behaviour of the service or the network befalls messages. */
const times = 3;

/** Notes that it happened as soon as it is counted once more than now. */
function whenCounted(stage: Stage, seat: Seat, kind: string): void {
  const counted = (): number => stage.town.world.coverage.counts()[kind] ?? 0;
  const before = counted();
  stage.when(
    () => counted() > before,
    () => stage.note(seat, true, kind),
  );
}

export function postMove(name: PostFault): Move {
  return {
    touchesMoney: true,
    begin(stage, seat) {
      meetPosts(stage, seat, name, times);
      whenCounted(stage, seat, `POST: ${name}`);
      own(stage, seat, [{}, {}]);
    },
  };
}

export function questionMove(name: QuestionFault): Move {
  return {
    touchesMoney: false,
    begin(stage, seat) {
      stage.switches.questions.unshift({ name, left: times + 1, of: () => true });
      whenCounted(stage, seat, `question: ${name}`);
      own(stage, seat, [{}, {}]);
      stage.when(() => stage.town.world.now() - seat.begunAt > 60_000, stage.daemon.reconcile);
    },
  };
}

export function webhookMove(name: WebhookFault): Move {
  return {
    touchesMoney: false,
    begin(stage, seat) {
      stage.switches.webhooks.unshift({ name, left: times, of: () => true });
      whenCounted(stage, seat, `webhook: ${name}`);
      own(stage, seat, [{}, {}]);
    },
  };
}

/** From now on until the calm, the list cannot be proven complete; and somebody reads it. */
export function listMove(kind: ListFlawKind): Move {
  return {
    touchesMoney: false,
    needs: { listFlaw: kind },
    begin(stage, seat) {
      const { world, weather, service } = stage.town;
      weather.long.listFlaw = { kind, fromMs: world.now() - weather.startsAt, untilMs: null };
      if (kind === 'a stranger of next year') {
        const entry = service.book.add(stranger, {
          account: 'home',
          at: world.now() + year,
          shownFrom: world.now(),
        });
        entry.record.status = 'success';
        stage.amends.push(() => {
          entry.record.created_at = new Date(world.now()).toISOString().replace('Z', '000Z');
        });
      }
      whenCounted(stage, seat, `list: ${kind}`);
      stage.daemon.reconcile();
    },
  };
}

/** What becomes of transfers later, by the service's word. Of those that other moves touched, else of a file of its own. */
const turns = {
  'comes back, by its own word': { needs: {}, paid: true },
  'comes back, shown as failed': { needs: { returns: true }, paid: true },
  'comes back, and does not': { needs: { returns: true }, paid: true },
  'failed, and is paid': { needs: {}, paid: false },
  'is shown late': { needs: {}, paid: true },
} as const;
export type TurnKind = keyof typeof turns;
export const turnKinds = Object.keys(turns) as TurnKind[];

export function turnMove(kind: TurnKind): Move {
  const { needs, paid } = turns[kind];
  return {
    touchesMoney: true,
    needs,
    begin(stage, seat) {
      const { service, world } = stage.town;
      if (kind === 'is shown late') {
        stage.switches.hiddenMs = 40 * 60_000;
        const file = own(stage, seat, [{}, {}]);
        const isHidden = (): boolean =>
          file.rows.some(({ reference }) =>
            service.book.entries(reference).some((one) => one.shownFrom > world.now()),
          );
        stage.when(isHidden, () => stage.note(seat, true, kind));
        return;
      }
      const theirs = seat.others.flatMap(({ touched }) => touched);
      for (const i of [1, 2]) stage.switches.settlements.set(`B${seat.number}-${i}`, { ms: 3_000, paid });
      const file = own(stage, seat, [{}, {}]);
      const references = [...theirs, ...file.rows.map(({ reference }) => reference)];
      const ready = () =>
        references
          .flatMap((reference) => service.book.entries(reference))
          .filter(({ moved, record, returned }) => (paid ? moved && !returned : record.status === 'failed'))
          .slice(0, 2);
      stage.when(
        () => ready().length > 0 && world.now() - seat.begunAt > 20_000,
        () => {
          for (const entry of ready()) {
            if (kind === 'failed, and is paid') service.turn(entry);
            else service.comeBack(entry);
            if (kind === 'comes back, and does not') world.after(3 * 60_000, null, () => service.turn(entry));
          }
          stage.note(seat, true, kind);
          world.after(30_000, null, stage.daemon.reconcile);
        },
      );
    },
  };
}
