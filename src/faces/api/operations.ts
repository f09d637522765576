import { z } from 'zod';
import { batchOperations } from './batch-operations.ts';
import { lookup, type Operation } from './operation.ts';
import { payoutOperations } from './payout-operations.ts';
import { watchOperations } from './watch-operations.ts';

/** Every path of the API below `/api/v1`, by the name of its operation. */
export const operations = {
  ...batchOperations,
  ...payoutOperations,
  ...watchOperations,
  getOpenApi: {
    ...lookup,
    path: '/openapi.json',
    does: 'This API as OpenAPI 3.1.',
    right: 'figures',
    answers: { 200: { does: 'The document.', shape: z.looseObject({ openapi: z.string() }) } },
  },
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
