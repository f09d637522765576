import * as reconcileJob from '../../../jobs/reconcile.ts';
import type { App } from '../../../src/app/app.ts';
import { operations } from '../../../src/faces/api/operations.ts';
import { reviewApproval } from '../../../src/verbs/approve.ts';
import { type OperationName, openDoor, type Request, type Said } from '../api-door.ts';
import { limits, promise } from '../files.ts';
import type { Needs } from '../opening.ts';
import { type Move, noteCancelled, noteLetGo, type Stage } from '../stage.ts';
import {
  type About,
  ada,
  awaitingApproval,
  bola,
  heldBatch,
  mayBePaidAgain,
  moveBy,
  type Outcome,
  openTo,
  reconcileAlone,
  subject,
} from './verbs.ts';

/** Asked as Ada, unless the request says otherwise. */
type Asked = Omit<Request, 'by'> & { by?: string };
/** One endpoint in one play. `ended` waits for what its answers left running. */
type Scene = {
  stage: Stage;
  app: App;
  about: About;
  ask(request: Asked): Promise<Said>;
  ended(): Promise<void>;
};
type Call = { needs?: Needs; run(scene: Scene): Promise<Outcome> };

const outcomeOf = ({ status, isDone, body }: Said): Outcome => ({
  did: isDone,
  what: isDone ? String(status) : `${status} ${String(body.type)}`,
});

const lookup = (choose: (scene: Scene) => Asked = () => ({})): Call => ({
  run: async (scene) => outcomeOf(await scene.ask(choose(scene))),
});

const batchOf = ({ stage, about }: Scene, states: readonly string[] = []): string =>
  subject(stage, about, states).batch;

const referenceOf = ({ stage, about }: Scene, states: readonly string[] = []): string =>
  subject(stage, about, states).references[0] ?? 'none';

function lastRun({ stage }: Scene): string {
  const sql = 'select id from runs where finished_at is not null order by started_at desc limit 1';
  return stage.town.inspector.rows<{ id: string }>(sql)[0]?.id ?? 'none';
}

async function cancels({ stage }: Scene, batch: string, asked: Promise<Said>): Promise<Outcome> {
  const said = await asked;
  if (said.isDone) noteCancelled(stage, batch, true);
  return outcomeOf(said);
}

/** The first answer holds the evidence; the second request repeats its digest. */
async function decides(
  { ask }: Scene,
  reference: string,
  { body = {}, before }: { body?: object; before?: () => void },
): Promise<Outcome> {
  const params = { reference };
  const look = await ask({ params, body: { ...body, evidence: 'not seen yet' } });
  const { evidence_digest: evidence } = look.body;
  if (look.isDone || typeof evidence !== 'string') return outcomeOf(look);
  before?.();
  return outcomeOf(await ask({ params, body: { ...body, evidence } }));
}

/** People see the whole of what is open before they decide. */
const discrepancy = (states: readonly string[], note: string): Call => ({
  needs: { stranger: true },
  async run({ stage, ask }) {
    const [id = 'none'] = openTo(stage, states);
    return outcomeOf(await ask({ params: { id }, body: { note } }));
  },
});

const awaitsApproval: Needs = {
  second: { approval: true },
  brakes: { approval: 'above', approvalAbove: limits.approvalAbove },
};

/** How a program asks each endpoint. */
const calls: Record<OperationName, Call> = {
  postBatch: {
    async run({ stage, ask }) {
      const { name, text } = promise(stage, [{}, {}]);
      return outcomeOf(await ask({ query: { name }, body: text }));
    },
  },
  listBatches: lookup(),
  getBatch: lookup((scene) => ({ params: { batch: batchOf(scene) } })),
  getResults: lookup((scene) => ({ params: { batch: batchOf(scene) } })),
  getFailed: lookup((scene) => ({ params: { batch: batchOf(scene, ['failed', 'refused']) } })),
  approveBatch: {
    needs: awaitsApproval,
    async run({ stage, app, about, ask }) {
      const batch = awaitingApproval(stage, about.first);
      const review = await reviewApproval(app, batch, bola);
      noteCancelled(stage, batch, false);
      noteLetGo(stage, batch);
      if (review.kind === 'may') stage.town.brakes.approves(batch, Number(review.shown.throughId));
      const digest = review.kind === 'may' ? review.shown.digest : 'none';
      return outcomeOf(await ask({ by: bola.name, params: { batch }, body: { digest } }));
    },
  },
  rejectBatch: {
    needs: awaitsApproval,
    run(scene) {
      const batch = awaitingApproval(scene.stage, scene.about.first);
      return cancels(
        scene,
        batch,
        scene.ask({ by: bola.name, params: { batch }, body: { reason: 'the wrong month' } }),
      );
    },
  },
  holdBatch: {
    async run(scene) {
      const batch = batchOf(scene, ['ready', 'held', 'sending']);
      const held = scene.stage.town.brakes.holding(batch);
      const said = await scene.ask({ params: { batch }, body: {} });
      if (said.isDone) held();
      return outcomeOf(said);
    },
  },
  releaseBatch: {
    needs: { second: { twins: true } },
    async run({ stage, about, ask }) {
      const { town } = stage;
      const batch = heldBatch(stage, about);
      noteCancelled(stage, batch, false);
      noteLetGo(stage, batch);
      town.brakes.releasing(batch);
      town.lateBytes.releasing(batch);
      return outcomeOf(await ask({ params: { batch }, body: {} }));
    },
  },
  cancelBatch: {
    run(scene) {
      const batch = batchOf(scene, ['ready', 'held', 'sending']);
      return cancels(scene, batch, scene.ask({ params: { batch }, body: {} }));
    },
  },
  listPayouts: lookup(),
  listPayees: lookup(),
  getPayout: lookup((scene) => ({ params: { reference: referenceOf(scene) } })),
  retryPayout: {
    async run(scene) {
      const { town } = scene.stage;
      const { batch, references } = subject(scene.stage, scene.about, mayBePaidAgain);
      const [reference = 'none'] = references;
      noteCancelled(scene.stage, batch, false);
      const before = (): void => {
        const last = town.inspector.lastAttempt(reference);
        const sentAt = last ? town.begunAt(last.id) : 0;
        const afterQuietPeriod = town.world.now() - sentAt > town.weather.quietPeriodMs;
        town.decisions.announceRetry(reference, { afterQuietPeriod });
      };
      return decides(scene, reference, { before });
    },
  },
  settlePayout: {
    run(scene) {
      const { stage, about } = scene;
      const reference = referenceOf(scene, ['unknown', 'pending', 'held', 'ready']);
      const paid = stage.town.service.book.timesPaid(reference) > 0;
      const as = paid === about.wrongly ? 'not-paid' : 'paid';
      return decides(scene, reference, { body: { as, note: 'the bank statement says so' } });
    },
  },
  resendPayout: {
    async run(scene) {
      const reference = referenceOf(scene, ['unknown', 'pending', 'success', 'failed', 'sending']);
      return outcomeOf(await scene.ask({ params: { reference }, body: {} }));
    },
  },
  cancelPayout: {
    async run(scene) {
      const reference = referenceOf(scene, ['ready', 'held']);
      return outcomeOf(await scene.ask({ params: { reference }, body: {} }));
    },
  },
  listDiscrepancies: lookup(),
  acknowledgeDiscrepancy: discrepancy(['open'], ''),
  resolveDiscrepancy: discrepancy(['open', 'acknowledged'], 'looked into it'),
  listRuns: lookup(),
  getRun: { needs: { stranger: true }, ...lookup((scene) => ({ params: { run: lastRun(scene) } })) },
  getRunSheet: {
    run: async ({ stage, app, ask }) =>
      reconcileAlone(stage, app, async () => {
        const { run } = await reconcileJob.run(app, { full: true, followUp: false });
        await app.reporting.writeRun(run);
        return outcomeOf(await ask({ params: { run, sheet: 'statement' } }));
      }),
  },
  startRun: {
    run: async ({ stage, app, ask, ended }) =>
      reconcileAlone(stage, app, async () => {
        const said = await ask({ body: { full: stage.number % 4 < 2 } });
        await ended();
        return outcomeOf(said);
      }),
  },
  getStatus: lookup(),
  listEvents: lookup(),
  listFindings: lookup(),
  getOpenApi: lookup(),
};

/** One move for each endpoint of the API. */
export const endpointMoves: [OperationName, Move][] = namesOf(calls).map((name) => [name, moveOf(name)]);

function namesOf<Name extends string>(all: Record<Name, unknown>): Name[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a total map
  return Object.keys(all) as Name[];
}

function moveOf(name: OperationName): Move {
  const { needs, run } = calls[name];
  const order = {
    ...(needs && { needs }),
    async run(stage: Stage, app: App, about: About): Promise<Outcome> {
      const { world } = stage.town;
      const door = openDoor(app, world);
      const isOrder = operations[name].method === 'post' && operations[name].body !== null;
      let asked = 0;
      /** Every other program loses the answer and asks again under the same key: it hears the same. */
      const ask = async (request: Asked): Promise<Said> => {
        asked += 1;
        const sent = {
          by: ada.name,
          ...request,
          ...(isOrder && { key: `${stage.number}-${name}-${asked}-${app.workers.id}` }),
        };
        const said = await door.ask(name, sent);
        if (!isOrder || stage.number % 2 === 1 || !said.isDone) return said;
        const again = await door.ask(name, sent);
        if (JSON.stringify(again) !== JSON.stringify(said))
          world.violate('the same key has the same answer', `${name}: ${again.status} after ${said.status}`);
        return said;
      };
      try {
        return await run({ stage, app, about, ask, ended: door.ended });
      } finally {
        await door.close();
      }
    },
  };
  return moveBy(order, false);
}
