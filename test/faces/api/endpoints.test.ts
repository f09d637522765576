import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../../src/faces/api/operation.ts';
import { operations } from '../../../src/faces/api/operations.ts';
import { problemBody } from '../../../src/faces/api/problem-body.ts';
import { batchOf, type Json } from '../../support/cli.ts';
import { stateOf } from '../../support/decided.ts';
import { type PersonName, serveApi } from './support.ts';

type Name = keyof typeof operations;
const all = Object.entries<Operation>(operations);
const names = all.map(([name]) => name);

/** Who has the right of an operation, and somebody with another right. */
const holders: Record<Operation['right'], [PersonName, PersonName | null]> = {
  figures: ['eve', null],
  read: ['rita', 'eve'],
  drop: ['dayo', 'ada'],
  approve: ['ada', 'femi'],
  decide: ['femi', 'dayo'],
};

it('describes itself by a valid OpenAPI document that names each operation', async () => {
  const { ask } = await serveApi();
  const document: Json = await (await ask('eve', '/openapi.json')).json();
  const checked = await new Validator().validate(structuredClone(document));
  expect(checked.errors).toBeUndefined();
  expect(checked.valid).toBe(true);
  const paths = z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() })));
  const described = Object.values(paths.parse(document.paths)).flatMap((one) =>
    Object.values(one).map(({ operationId }) => operationId),
  );
  expect(described.toSorted()).toEqual(names.toSorted());
});

it('says that a payment is ordered again only on its evidence, and what answers without it', async () => {
  const { ask } = await serveApi();
  const { paths }: Json = await (await ask('eve', '/openapi.json')).json();
  expect(JSON.stringify(paths['/payouts/{reference}/retry'])).toContain('422 `evidence_needed`');
});

describe('each operation', () => {
  it('answers who has its right as its schema says, and refuses what is wrong', async () => {
    const faults = { 'PAY-0002': 'fail', 'PAY-0003': 'wrong_amount' } as const;
    const { ask, home } = await serveApi({ faults, settleMs: 1 }, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
    const done = new Set<string>();
    const refused = new Set<string>();
    const place = (name: Name, params: Record<string, string>): string =>
      operations[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));

    /** Asks as who has the right; the answer must be what the document says. */
    async function see(
      name: Name,
      given: { params?: Record<string, string>; query?: string; body?: string; type?: string } = {},
    ) {
      const one: Operation = operations[name];
      const [holder] = holders[one.right];
      const path = place(name, given.params ?? {}) + (given.query ?? '');
      const response = await ask(holder, path, {
        method: one.method.toUpperCase(),
        ...(one.method === 'post' && {
          body: given.body ?? '{}',
          headers: { 'content-type': given.type ?? 'application/json' },
        }),
      });
      const text = await response.text();
      const described = one.answers[response.status];
      if (response.status >= 400)
        return { status: response.status, said: problemBody.parse(JSON.parse(text)) };
      expect(described, `${name}: ${response.status} ${text}`).toBeDefined();
      if (!described?.shape) return { status: response.status, said: text };
      const { schema, ...said } = JSON.parse(text);
      if (name !== 'getOpenApi') expect(schema).toBe(1);
      described.shape.parse(said);
      done.add(name);
      return { status: response.status, said };
    }
    const success = async (name: Name, given?: Parameters<typeof see>[1]) => {
      const answer = await see(name, given);
      expect(answer.status, `${name}: ${JSON.stringify(answer.said)}`).toBeLessThan(300);
      done.add(name);
      return answer.said;
    };
    const refusal = async (name: Name, status: number, given?: Parameters<typeof see>[1]) => {
      const answer = await see(name, given);
      expect([name, answer.status]).toEqual([name, status]);
      expect(answer.said).toMatchObject({ problem: expect.any(String), fix: expect.any(String) });
      refused.add(name);
    };

    const post = (name: string, body: string, more = '') =>
      ({ query: `?name=${name}${more}`, body, type: 'text/csv' }) as const;
    await success('postBatch', post('pay.csv', batchOf(1), '&check=true'));
    const { batch } = await success('postBatch', post('pay.csv', batchOf(4), '&rows=4&total.NGN=4012.00'));
    await refusal('postBatch', 409, post('pay.csv', batchOf(4)));
    await refusal('postBatch', 422, post('pay.csv', 'reference\nx\n'));
    await refusal('postBatch', 422, post('pay.csv', batchOf(2, 50), '&rows=3'));
    await success('listBatches');
    await refusal('listBatches', 422, { query: '?limit=0' });
    await success('getBatch', { params: { batch } });
    await refusal('getBatch', 404, { params: { batch: 'none' } });
    await success('holdBatch', { params: { batch } });
    await refusal('holdBatch', 404, { params: { batch: 'none' } });
    await success('releaseBatch', { params: { batch } });
    await refusal('releaseBatch', 404, { params: { batch: 'none' } });
    await success('cancelPayout', { params: { reference: 'PAY-0004' } });
    await refusal('cancelPayout', 409, { params: { reference: 'PAY-0004' } });
    await home.json(['submit', '--json'], 0);
    await home.sandbox.settleAll();
    await home.json(['reconcile'], 4);
    await success('getResults', { params: { batch } });
    await refusal('getResults', 404, { params: { batch: 'none' } });
    await success('getFailed', { params: { batch } });
    await refusal('getFailed', 404, { params: { batch: 'none' } });
    await success('listPayouts', { query: '?state=success&limit=5' });
    await refusal('listPayouts', 422, { query: '?stat=success' });
    await success('listPayees', { query: '?limit=1' });
    await refusal('listPayees', 422, { query: '?after=none' });
    await success('getPayout', { params: { reference: 'PAY-0001' } });
    await refusal('getPayout', 404, { params: { reference: 'PAY-9999' } });
    const { said } = await see('retryPayout', { params: { reference: 'PAY-0002' } });
    const evidence: unknown = said.evidence_digest;
    await refusal('retryPayout', 422, { params: { reference: 'PAY-0002' } });
    await success('retryPayout', { params: { reference: 'PAY-0002' }, body: JSON.stringify({ evidence }) });
    const settled = { as: 'paid', note: 'the bank statement' };
    await success('settlePayout', { params: { reference: 'PAY-0003' }, body: JSON.stringify(settled) });
    await refusal('settlePayout', 422, { params: { reference: 'PAY-0003' }, body: '{"as":"paid"}' });
    await success('resendPayout', { params: { reference: 'PAY-0001' } });
    await refusal('resendPayout', 404, { params: { reference: 'PAY-9999' } });
    const { discrepancies } = await success('listDiscrepancies');
    const { id } = discrepancies[0];
    await refusal('listDiscrepancies', 422, { query: '?kind=none' });
    await success('acknowledgeDiscrepancy', { params: { id } });
    await refusal('acknowledgeDiscrepancy', 404, { params: { id: 'none' } });
    await refusal('resolveDiscrepancy', 422, { params: { id } });
    await success('resolveDiscrepancy', { params: { id }, body: '{"note":"asked the bank"}' });
    await success('startRun');
    await refusal('startRun', 422, { body: '{"ful":true}' });
    const { runs } = await success('listRuns');
    const { run } = runs.at(-1);
    await refusal('listRuns', 422, { query: '?limit=x' });
    await success('getRun', { params: { run } });
    await refusal('getRun', 404, { params: { run: 'none' } });
    for (const sheet of ['statement', 'statement-rows', 'payouts'])
      await success('getRunSheet', { params: { run, sheet } });
    await refusal('getRunSheet', 404, { params: { run: 'none', sheet: 'statement' } });
    await refusal('getRunSheet', 404, { params: { run, sheet: 'secrets' } });
    await success('getStatus');
    await refusal('getStatus', 422, { query: '?x=1' });
    expect(await success('listFindings')).toMatchObject({ findings: expect.any(Array), next: null });
    await refusal('listFindings', 422, { query: '?x=1' });
    await success('listEvents', { query: '?limit=3' });
    await refusal('listEvents', 422, { query: '?after=x' });
    await success('getOpenApi');
    await refusal('getOpenApi', 422, { query: '?x=1' });
    const later = await success('postBatch', post('later.csv', batchOf(1, 70)));
    await success('cancelBatch', { params: { batch: later.batch } });
    await refusal('cancelBatch', 404, { params: { batch: 'none' } });
    expect(await stateOf(home, 'PAY-0070')).toBe('cancelled');
    expect(names.filter((name) => !done.has(name))).toEqual(['approveBatch', 'rejectBatch']);
    expect(names.filter((name) => !refused.has(name))).toEqual(['approveBatch', 'rejectBatch']);
  }, 180_000);

  it('lets a second person approve what the digest covers, or reject it with a reason', async () => {
    const { as, ask } = await serveApi({}, { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
    const one = await as('dayo').postBatch(batchOf(1), { name: 'one.csv' });
    const two = await as('dayo').postBatch(batchOf(1, 2), { name: 'two.csv' });
    const wrong = as('ada').approveBatch({ batch: one.batch, digest: two.digest ?? '' });
    await expect(wrong).rejects.toMatchObject({ status: 409, kind: 'changed' });
    const { digest } = one;
    expect(await as('ada').approveBatch({ batch: one.batch, digest: digest ?? '' })).toMatchObject({
      released: 1,
    });
    await expect(as('ada').rejectBatch({ batch: two.batch, reason: ' ' })).rejects.toMatchObject({
      status: 422,
    });
    const other = as('ada').rejectBatch({ batch: two.batch, reason: 'not ours', digest: digest ?? '' });
    await expect(other).rejects.toMatchObject({ status: 409, kind: 'changed' });
    expect(await as('ada').rejectBatch({ batch: two.batch, reason: 'not ours' })).toMatchObject({
      cancelled: 1,
    });
    const person = await ask('ada', `/batches/${one.batch}/approve`, { method: 'POST', body: '{}' });
    expect(person.status).toBe(415);
  });

  it('is closed to who has another right, and to who has no token, even on this machine', async () => {
    const { ask } = await serveApi();
    for (const [name, { method, path, right }] of all) {
      const place = path.replaceAll(/\{\w+\}/g, 'x');
      const init = {
        method: method.toUpperCase(),
        ...(method === 'post' && { body: '{}', headers: { 'content-type': 'application/json' } }),
      };
      expect([name, (await ask(null, place, init)).status]).toEqual([name, 401]);
      const [, other] = holders[right];
      if (other === null) continue;
      const response = await ask(other, place, init);
      expect([name, response.status]).toEqual([name, 403]);
      expect(problemBody.parse(await response.json())).toMatchObject({ status: 403 });
    }
  });
});

it('forbids the approval of an own batch, on the API as for lack of the role', async () => {
  const { ask, as } = await serveApi(
    {},
    {
      COUNTERFOIL_ADMIN_ROLES: '{"ada":["drop","approve"]}',
      COUNTERFOIL_SUBMISSION_APPROVAL: 'always',
      COUNTERFOIL_SCHEDULES_SUBMIT: '',
    },
  );
  const { batch, digest } = await as('ada').postBatch(batchOf(1), { name: 'own.csv' });
  const answer = await ask('ada', `/batches/${batch}/approve`, {
    method: 'POST',
    body: JSON.stringify({ digest }),
    headers: { 'content-type': 'application/json' },
  });
  expect([answer.status, (await as('ada').getBatch({ batch })).state]).toEqual([403, 'held']);
});
