import { expect, it } from 'vitest';
import { PostgresFailure } from '../../../../src/core/storage/failure.ts';
import { startDashboard, textOf } from './support.ts';

it('shows a browser a page, and a program JSON, while the database of the ledger is away', async () => {
  let failure: Error | null = new PostgresFailure('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.7:5432');
  const { ask } = await startDashboard({ failure: () => failure });
  const html = { headers: { accept: 'text/html' } };
  for (const path of ['/', '/batches', '/nothing']) {
    const page = await ask(path, html);
    expect([path, page.status, page.headers['retry-after']]).toEqual([path, 503, '10']);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(textOf(page.body)).toContain('The ledger&#39;s database is away');
    expect(page.body).toContain('<a href="/months">Months</a>');
    expect(page.body).not.toContain('10.0.0.7');
  }
  const told = await ask('/');
  expect([told.status, told.headers['retry-after']]).toEqual([503, '10']);
  expect(JSON.parse(told.body)).toEqual({
    problem: "the ledger's database is away",
    fix: expect.stringContaining('nothing is done twice'),
  });
  failure = new Error('a fault of ours');
  const broken = await ask('/', html);
  expect(broken.status).toBe(500);
  expect(textOf(broken.body)).toContain('The ledger cannot be read');
});
