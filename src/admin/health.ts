import type { Routes } from './admin-server.ts';

/** Why work does not move, with what helps; `check` is a fixed name that a monitor may read. */
export type Unready = { check: string; problem: string; fix: string };

/**
 * `GET /healthz`: 200 while the process answers, for anyone. `GET /readyz`: 200 only while work moves, else 503 with
 * every problem.
 */
export function healthRoutes(findProblems: () => Promise<Unready[]>): Routes {
  return (server) => {
    server.get('/healthz', { config: { right: 'none' } }, async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send('ok\n'),
    );
    server.get('/readyz', async (_request, reply) => {
      const problems = await findProblems();
      const ready = problems.length === 0;
      return reply.code(ready ? 200 : 503).send({ ready, problems });
    });
  };
}
