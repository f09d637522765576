import { z } from 'zod';
import { problemShape } from '../../core/shapes/parts.ts';

/** An answer that is no success, as RFC 9457 has it. `batch`, `evidence` and the rest: where the problem has them. */
export const problemBody = z
  .object({
    type: z.string().describe('which problem: the same for each of its kind'),
    title: z.string(),
    status: z.int(),
    problem: z.string().describe('what is wrong'),
    fix: z.string().describe('what helps'),
    batch: z.string().optional().describe('the batch that has this content'),
    problems: z.array(problemShape).optional().describe('of the rows of a file, the first 10,000'),
    problem_count: z.int().optional().describe('how many problems the file has'),
    evidence_digest: z.string().optional().describe('what the decision must repeat'),
    evidence: z.array(z.unknown()).optional(),
  })
  .meta({ id: 'ProblemDetails' });
