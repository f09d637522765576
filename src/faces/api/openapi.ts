import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { usualTypes } from '../../core/domain/file-formats.ts';
import { apiBase, type Operation } from './operation.ts';
import { problemBody } from './problem-body.ts';

/** The shape of an answer, with the number of its version. */
function versioned(shape: z.ZodType): z.ZodType {
  if (shape instanceof z.ZodUnion)
    return z.union(shape.options.flatMap((one) => (one instanceof z.ZodType ? [versioned(one)] : [])));
  if (!(shape instanceof z.ZodObject)) return shape;
  const { id, ...meta } = shape.meta() ?? {};
  const named = typeof id === 'string' ? { id: `${id}Answer`, ...meta } : meta;
  return z.strictObject({ schema: z.literal(1), ...shape.shape }).meta(named);
}

const idempotencyKey = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('the same answer is given again for a day, and nothing is decided twice'),
});

function operationOf(name: string, one: Operation): ZodOpenApiOperationObject {
  const { does, right, params, query, body, streams, answers, method } = one;
  const responses = Object.entries(answers).map(([status, { does: description, shape, type }]) => {
    const content = shape
      ? { 'application/json': { schema: versioned(shape) } }
      : { [type ?? 'text/plain']: { schema: { type: 'string' as const } } };
    return [status, { description, content }] as const;
  });
  const failed = {
    description: 'Nothing was done.',
    content: { 'application/problem+json': { schema: problemBody } },
  };
  const file = { schema: { type: 'string' as const, format: 'binary' } };
  const form = {
    schema: {
      type: 'object' as const,
      required: ['file'],
      properties: { file: { type: 'string' as const, contentMediaType: usualTypes.join(', ') } },
    },
  };
  const content = streams
    ? Object.fromEntries(streams.map((type) => [type, type.startsWith('multipart') ? form : file]))
    : body && { 'application/json': { schema: body } };
  return {
    operationId: name,
    summary: does,
    description: right === 'figures' ? 'For any token.' : `For a token with the role \`${right}\`.`,
    requestParams: {
      ...(Object.keys(params.shape).length > 0 && { path: params }),
      ...(Object.keys(query.shape).length > 0 && { query }),
      ...(method === 'post' && body && { header: idempotencyKey }),
    },
    ...(content && { requestBody: { required: true, content } }),
    responses: { ...Object.fromEntries(responses), default: failed },
  };
}

/** The OpenAPI 3.1 document of these operations. */
export function openApiOf(
  operations: Record<string, Operation>,
  version: string,
): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, one] of Object.entries(operations))
    paths[one.path] = { ...paths[one.path], [one.method]: operationOf(name, one) };
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Counterfoil',
      version,
      description: 'Batches of payouts in, and what became of them. docs/api.md explains it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: apiBase }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'a token of COUNTERFOIL_ADMIN_TOKENS' },
      },
    },
  });
}
