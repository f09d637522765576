import { z } from 'zod';
import { mediaTypes, readEndings } from '../../core/domain/file-formats.ts';
import { jsonShapes } from '../../core/shapes/json-shapes.ts';
import { listedBatchShape } from '../../core/shapes/list-shapes.ts';
import { leftOutShape, list, text } from '../../core/shapes/parts.ts';
import { listOf, lookup, type Operation, order, paging } from './operation.ts';

/** The types of a body that is a file. */
export const fileTypes = [...mediaTypes, 'application/octet-stream', 'multipart/form-data'];

const batchParams = z.object({ batch: z.string().describe('its whole name') });

const apiBatch = listedBatchShape
  .extend({
    digest: text.nullable().describe('what an approval covers and must repeat; null while it is loading'),
  })
  .meta({ id: 'Batch' });

const posted = apiBatch.extend({ warnings: list(text), ...leftOutShape.shape }).meta({ id: 'PostedBatch' });

const posting = z.looseObject({
  name: z
    .string()
    .optional()
    .describe(`the name of the file, NAME${readEndings}: the batch is named after it`),
  rows: z.coerce.number().int().nonnegative().optional().describe('how many rows the file must have'),
  'total.NGN': z
    .string()
    .optional()
    .describe('what the rows in NGN must add up to; the same for any currency'),
  'total.ZAR': z.string().optional(),
  pay_on: z.iso.date().optional().describe('the day before which rows that name none are not sent'),
  check: z.enum(['true', 'false']).optional().describe('true: only checks the file; nothing is taken'),
});

export const batchOperations = {
  postBatch: {
    ...order,
    orders: 'take-in',
    path: '/batches',
    does: 'Takes a file of payouts in. It is a batch, durably, before the answer. The same content is never a second batch.',
    right: 'drop',
    query: posting,
    body: null,
    streams: fileTypes,
    answers: {
      200: { does: 'The result of the check; nothing was taken.', shape: jsonShapes.check.shape },
      201: { does: 'The batch.', shape: posted },
    },
  },
  listBatches: {
    ...lookup,
    path: '/batches',
    does: 'Batches, the newest first.',
    right: 'figures',
    query: paging,
    answers: { 200: { does: 'A page of batches.', shape: listOf('batches', apiBatch) } },
  },
  getBatch: {
    ...lookup,
    path: '/batches/{batch}',
    does: 'One batch.',
    right: 'figures',
    params: batchParams,
    answers: { 200: { does: 'The batch.', shape: apiBatch } },
  },
  getResults: {
    ...lookup,
    path: '/batches/{batch}/results.csv',
    does: 'The file of the batch with what became of each row.',
    right: 'read',
    params: batchParams,
    answers: { 200: { does: 'The file.', type: 'text/csv' } },
  },
  getFailed: {
    ...lookup,
    path: '/batches/{batch}/failed.csv',
    does: 'The rows that failed and are unpaid, to mend and post again. 404: there are none.',
    right: 'read',
    params: batchParams,
    answers: { 200: { does: 'The file.', type: 'text/csv' } },
  },
  approveBatch: {
    ...order,
    orders: 'approve',
    path: '/batches/{batch}/approve',
    does: "A second person's approval of exactly what the digest covers.",
    right: 'approve',
    params: batchParams,
    body: z.strictObject({ digest: z.string().describe('as GET /batches/{batch} shows it') }),
    answers: { 200: { does: 'Approved, now or before.', shape: jsonShapes.approve.shape } },
  },
  rejectBatch: {
    ...order,
    orders: 'reject',
    path: '/batches/{batch}/reject',
    does: 'Cancels a batch that waits for an approval, or what of it waits; its payouts say why.',
    right: 'approve',
    params: batchParams,
    body: z.strictObject({
      reason: z.string().trim().min(1).max(2000),
      digest: z
        .string()
        .exactOptional()
        .describe('as GET /batches/{batch} shows it; with it, 409 where the batch changed'),
    }),
    answers: { 200: { does: 'What was cancelled.', shape: jsonShapes.cancel.shape } },
  },
  holdBatch: {
    ...order,
    orders: 'hold',
    path: '/batches/{batch}/hold',
    does: 'The brake: nothing more of the batch goes out.',
    right: 'decide',
    params: batchParams,
    answers: {
      200: { does: 'How many it held, and what was already on its way.', shape: jsonShapes.hold.shape },
    },
  },
  releaseBatch: {
    ...order,
    orders: 'release',
    path: '/batches/{batch}/release',
    does: 'Lets a held batch go; one that needs an approval stays held.',
    right: 'decide',
    params: batchParams,
    answers: { 200: { does: 'How many may go, and what still holds it.', shape: jsonShapes.release.shape } },
  },
  cancelBatch: {
    ...order,
    orders: 'cancel',
    path: '/batches/{batch}/cancel',
    does: 'Cancels what was never sent of the batch.',
    right: 'decide',
    params: batchParams,
    answers: { 200: { does: 'What was cancelled.', shape: jsonShapes.cancel.shape } },
  },
} as const satisfies Record<string, Operation>;
