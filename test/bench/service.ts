import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The least that answers at once, or the sandbox, which keeps a whole book and settles. */
export type ServiceKind = 'minimal' | 'sandbox';

/** What the bench may ask of the process that plays the payments service. */
export type Order = { do: 'settle' } | { do: 'stop' };
/** What it answers: once when it listens, then once an order. `successes`: in its own book. */
export type Answer =
  | { kind: 'ready'; url: string; secretKey: string; publicKey: string; encryptionKey: string }
  | { kind: 'settled'; successes: number };

export type Service = {
  url: string;
  keys: { secretKey: string; publicKey: string; encryptionKey: string };
  /** Settles every transfer; resolves with the successes in the service's own book. */
  settle(): Promise<number>;
  stop(): Promise<void>;
};

/** Starts a service in a process of its own, so that it shares no event loop with what is measured. */
export async function startService(of: ServiceKind): Promise<Service> {
  const script = fileURLToPath(new URL(`./${of}-process.ts`, import.meta.url));
  const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ready = await next(child);
  if (ready.kind !== 'ready') throw new Error(`the service began with ${ready.kind}`);
  const { url, kind: _, ...keys } = ready;
  const order = (what: Order): void => void child.send(what);
  return {
    url,
    keys,
    async settle() {
      const answer = next(child);
      order({ do: 'settle' });
      const settled = await answer;
      return settled.kind === 'settled' ? settled.successes : 0;
    },
    async stop() {
      const gone = once(child, 'exit');
      order({ do: 'stop' });
      await gone;
    },
  };
}

async function next(child: ChildProcess): Promise<Answer> {
  const dead = once(child, 'exit').then(() => {
    throw new Error('the process of the service ended');
  });
  const [answer]: Answer[] = await Promise.race([once(child, 'message'), dead]);
  if (!answer) throw new Error('the service said nothing');
  return answer;
}
