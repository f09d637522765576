import { onTestFinished } from 'vitest';
import { openApp } from '../../../src/app/app.ts';
import type { Clock } from '../../../src/core/runtime/clock.ts';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import { loadConfig } from '../../../src/core/settings/settings.ts';
import { createApprovalAsking } from '../../../src/faces/callback/approval-asking.ts';
import { batchOf } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';
import { type Answering, secret, startApprover } from './approving-server.ts';

export type Scene = Awaited<ReturnType<typeof makeScene>>;

/** A home whose batches wait for a server's yes, with one batch of two payouts, and processes that ask. */
export async function makeScene(answering?: Answering, settings: Record<string, string> = {}) {
  const server = await startApprover(answering);
  const home = await makeHome(
    {},
    {
      COUNTERFOIL_SUBMISSION_APPROVAL: 'callback',
      COUNTERFOIL_SUBMISSION_APPROVAL_URL: server.url,
      COUNTERFOIL_EVENTS_SECRET: secret,
      ...settings,
    },
  );
  const taken = await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 4);
  const { batch } = taken.batches[0];
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const { config } = loaded;
  let moved = 0;
  /** One process that asks; `over`: what dies on its way. */
  const open = async () => {
    const log = createLogger({ to: { write: () => undefined } });
    const app = await openApp('whole', { config, log, kind: 'serve' });
    onTestFinished(() => app.close());
    /** Looks once, as a daemon does every two seconds. */
    const look = async (over: Partial<typeof app> = {}): Promise<void> => {
      const stopping = new AbortController();
      const clock: Clock = {
        ...app.clock,
        now: () => app.clock.now() + moved,
        iso: () => new Date(app.clock.now() + moved).toISOString(),
        sleep: async () => stopping.abort(),
      };
      const failures: unknown[] = [];
      const watched = <T>(work: Promise<T>): Promise<T> =>
        work.catch((error: unknown) => {
          failures.push(error);
          throw error;
        });
      await createApprovalAsking({ ...app, clock, ...over }, { stopping: stopping.signal, watched })();
      if (failures.length > 0) throw failures[0];
    };
    return { app, look };
  };
  const first = await open();
  const { ledger } = first.app;
  return {
    ...{ server, home, batch, open, ...first },
    pass: (ms: number) => {
      moved += ms;
    },
    question: () => ledger.db.selectFrom('approval_questions').selectAll().executeTakeFirst(),
    approvals: () => ledger.db.selectFrom('approvals').selectAll().execute(),
    states: async () =>
      (await ledger.db.selectFrom('payouts').select('state').orderBy('id').execute()).map(
        ({ state }) => state,
      ),
  };
}
