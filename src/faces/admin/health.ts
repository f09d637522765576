import type { FindingJson } from '../../core/shapes/parts.ts';
import type { Routes } from './admin-server.ts';

/** Why work does not move, with what helps; `check` is a fixed name that a monitor may read. `job`: the scheduled job. */
export type Unready = { check: string; problem: string; fix: string; job?: string };
/** The same, with what every face names it. */
export type UnreadyFinding = Unready & { finding: FindingJson };

/**
 * `GET /healthz`: 200 while the process answers, for anyone. `GET /readyz`: 200 only while work moves, else 503 with
 * every problem.
 */
export function healthRoutes(findProblems: () => Promise<UnreadyFinding[]>): Routes {
  return (server) => {
    server.get('/healthz', { config: { right: 'none' } }, async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send('ok\n'),
    );
    server.get('/readyz', async (_request, reply) => {
      const found = await findProblems();
      const problems = found.map(({ check, problem, fix }) => ({ check, problem, fix }));
      const ready = problems.length === 0;
      const findings = found.map(({ finding }) => finding);
      return reply.code(ready ? 200 : 503).send({ ready, problems, findings });
    });
  };
}
