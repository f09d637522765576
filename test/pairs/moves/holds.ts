import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as intakeJob from '../../../jobs/intake.ts';
import * as submitJob from '../../../jobs/submit.ts';
import type { HoldReason } from '../../../src/core/ledger/hold-reasons.ts';
import { holdVerb } from '../../../src/verbs/hold.ts';
import type { BatchFile } from '../../simulation/batch-files.ts';
import { accountOf, bring, isLoaded, large, limits } from '../files.ts';
import type { Needs } from '../opening.ts';
import { batchOf, isHeldFor, killAt, type Move, payoutsOf, type Seat, type Stage } from '../stage.ts';
import { meetPosts, own, twinRows } from './states.ts';
import { ada, cancel, release } from './verbs.ts';

type Kind = HoldReason['kind'];
/** What the world does to a file of its own, so that its batch is held for this reason. */
const ways: Record<Kind, { needs?: Needs; begin(stage: Stage, seat: Seat): void }> = {
  person: {
    begin(stage, seat) {
      const file = own(stage, seat, [{}, {}], { sends: false });
      stage.when(
        () => isLoaded(stage, file),
        () =>
          stage.command(async (app) => {
            const batch = batchOf(stage, file)?.id ?? '';
            const held = stage.town.brakes.holding(batch);
            await holdVerb.run(app, { batch }, ada);
            held();
          }),
      );
    },
  },
  cancelled: {
    begin(stage, seat) {
      meetPosts(stage, seat, 'hang, taken', 2, true);
      const file = own(stage, seat, [{}, {}]);
      stage.when(
        () => payoutsOf(stage, file).some(({ state }) => state === 'sending'),
        () =>
          stage.command(async (app) => {
            await cancel(stage, app, batchOf(stage, file)?.id ?? '');
          }),
      );
    },
  },
  approval: {
    needs: { brakes: { approval: 'above', approvalAbove: limits.approvalAbove } },
    begin: (stage, seat) => own(stage, seat, [{ minor: large.approval }, { minor: large.approval + 1 }]),
  },
  releasing: {
    begin(stage, seat) {
      const file = own(stage, seat, twinRows(seat.number));
      stage.when(
        () => isHeldFor(stage, file, 'repeated_row'),
        () =>
          stage.command(
            async (app) => {
              await release(stage, app, batchOf(stage, file)?.id ?? '');
            },
            // The first transaction of a release writes down that it is under way; the payouts follow.
            (life) =>
              killAt(
                life,
                () => isHeldFor(stage, file, 'releasing'),
                () => stage.note(seat, true, 'releasing'),
              ),
          ),
      );
    },
  },
  file_grown: { begin: (stage, seat) => harm(stage, seat, (path) => appendFileSync(path, 'one more row\n')) },
  file_changed: {
    begin: (stage, seat) =>
      harm(stage, seat, (path, text) => writeFileSync(path, text.replace('Salary', 'Bonus!'))),
  },
  file_missing: { begin: (stage, seat) => harm(stage, seat, (path) => rmSync(path)) },
  file_not_archived: {
    begin(stage, seat) {
      const file = bring(stage, seat.number, [{}, {}], {
        sends: false,
        begun: (life) => killAt(life, () => isLoaded(stage, file)),
      });
      Object.assign(seat, { file });
      seat.touched.push(...file.all);
      stage.when(
        () => isLoaded(stage, file),
        () => {
          writeFileSync(file.path, file.text.replace('Salary', 'Bonus!'));
          stage.amends.push(() =>
            writeFileSync(`${stage.town.config.dataDir}/archive/${file.name}.found.csv`, file.text),
          );
          sendNow(stage);
        },
      );
    },
  },
  repeated_row: { begin: (stage, seat) => own(stage, seat, twinRows(seat.number)) },
  alike: { begin: (stage, seat) => own(stage, seat, [{ account: accountOf(1, 0), minor: 101_000 }, {}]) },
  named_again: { begin: (stage, seat) => own(stage, seat, [{ reference: 'B1-2-R2' }, {}]) },
  value_again: {
    needs: { unique: true },
    begin: (stage, seat) =>
      own(stage, seat, [{ invoice: `INV ${seat.number}` }, { invoice: `inv  ${seat.number}` }]),
  },
  original_held: {
    begin(stage, seat) {
      stage.command(async (app) => {
        const { payouts } = await app.decisions.find(['B1-2']);
        const batch = payouts[0]?.batch_id ?? '';
        const held = stage.town.brakes.holding(batch);
        await holdVerb.run(app, { batch }, ada);
        held();
        await app.lookUps.lookUp(payouts.map(({ id }) => id));
        const [offer] = await app.decisions.rows.offer(
          app.ledger.db,
          payouts.map(({ id }) => id),
        );
        if (!offer) return;
        const { reference, claim } = offer;
        const again = {
          account: accountOf(1, 1),
          minor: 101_001,
          retryOf: claim.of,
          evidence: claim.evidence,
        };
        const file = own(stage, seat, [{ reference, ...again }, {}]);
        stage.amends.push(() => withdrawIfOrdered(stage, file, claim.of));
      });
    },
  },
  payout_limit: {
    needs: { brakes: { payoutLimit: limits.payoutLimit } },
    begin: (stage, seat) => own(stage, seat, [{ minor: large.payout }, {}]),
  },
  daily_limit: {
    needs: { brakes: { dailyLimit: limits.dailyLimit } },
    begin: (stage, seat) => own(stage, seat, [{ minor: large.day }, {}]),
  },
  balance: {
    needs: { extras: { balance: true } },
    begin(stage, seat) {
      stage.switches.balance = '"NGN":"5.00"';
      own(stage, seat, [{}, {}]);
    },
  },
  account_names: {
    needs: { extras: { account_name: true } },
    begin(stage, seat) {
      stage.switches.holder = 'Somebody Else';
      own(stage, seat, [{}, {}]);
    },
  },
  check_unreadable: {
    needs: { extras: { balance: true } },
    begin(stage, seat) {
      stage.switches.balance = '"XXQ":"plenty"';
      own(stage, seat, [{}, {}]);
    },
  },
};

/** What the file itself, the configuration or the service gives as a reason before anything of it can go. */
const fromTheStart: ReadonlySet<Kind> = new Set([
  'approval',
  'repeated_row',
  'alike',
  'named_again',
  'value_again',
  'original_held',
  'payout_limit',
  'daily_limit',
  'balance',
  'account_names',
  'check_unreadable',
]);

export const holdKinds = Object.keys(ways) as Kind[];

export function holdMove(kind: Kind): Move {
  const { needs, begin } = ways[kind];
  return {
    touchesMoney: false,
    ...(needs && { needs }),
    begin(stage, seat) {
      begin(stage, seat);
      if (fromTheStart.has(kind))
        stage.when(
          () => seat.file !== null,
          () => seat.file && stage.mustWait.set(seat.file, kind),
        );
      stage.when(
        () => isHeldFor(stage, seat.file, kind),
        () => {
          // What the service answers of other batches is no matter of this one.
          Object.assign(stage.switches, { balance: null, holder: null });
          stage.note(seat, true, kind);
        },
      );
    },
  };
}

/** A file is refused where somebody else has ordered its payout again meanwhile: the office does not bring it any more. */
function withdrawIfOrdered(stage: Stage, file: BatchFile, reference: string): void {
  const sql = 'select 1 from payouts n join payouts p on n.successor_of = p.id where p.reference = ? limit 1';
  const { inspector, fall } = stage.town;
  if (!isLoaded(stage, file) && inspector.rows(sql, reference).length > 0) fall.forgottenFiles.add(file.name);
}

/** Takes a file in, harms it in the archive before anything of it is sent, and sends. */
function harm(stage: Stage, seat: Seat, how: (path: string, text: string) => void): void {
  const file = own(stage, seat, [{}, {}], { sends: false });
  const archived = (): string => {
    const sql = `select m.target as path from file_moves m join batches b on b.id = m.owner
      where b.file_name = ? and m.kind = 'archive' and m.outcome = 'done'`;
    return stage.town.inspector.rows<{ path: string }>(sql, file.name)[0]?.path ?? '';
  };
  stage.when(
    () => archived() !== '' && existsSync(archived()),
    () => {
      const path = archived();
      const text = readFileSync(path, 'utf8');
      how(path, text);
      stage.amends.push(() => writeFileSync(path, text));
      sendNow(stage);
    },
  );
}

function sendNow(stage: Stage): void {
  stage.command(async (app) => {
    await intakeJob.run(app);
    await submitJob.run(app);
  });
}
