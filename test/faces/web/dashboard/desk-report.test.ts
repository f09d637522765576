import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filePage } from '../../../../src/faces/web/kit/frame.ts';
import { html } from '../../../../src/faces/web/kit/html.ts';
import { batchMark } from '../../../../src/faces/web/kit/parts.ts';
import { startDashboard } from './support.ts';

it('gives a report the ways back to the desk, and pages instead of commands; the file keeps its own text', async () => {
  const { reports, as } = await startDashboard();
  const note =
    'then settle it: counterfoil settle PAY-1 --as paid --note "what they said" (or --as not-paid)';
  const body = html`<main id="main"><dl><dt>Command</dt><dd><code>counterfoil show PAY-1</code></dd></dl>
<p>${note}. ${batchMark('november-20261121-3f9a1c')}</p><code>counterfoil discrepancies --kind paid_twice</code></main>`;
  const page = filePage({ title: 'A run', style: '', body });
  mkdirSync(join(reports, 'reconciliation-1'));
  writeFileSync(join(reports, 'reconciliation-1', 'report.html'), page);
  const { body: shown, headers, status } = await as('ada', '/reports/reconciliation-1/report.html');
  expect(status).toBe(200);
  expect(headers['content-length']).toBe(String(Buffer.byteLength(shown)));
  expect(shown.indexOf('Skip to the content')).toBeLessThan(shown.indexOf('<nav aria-label="Main">'));
  for (const way of ['href="/"', 'href="/runs"', 'href="/months"']) expect(shown).toContain(way);
  expect(shown).toContain('<a href="/payouts/PAY-1">its page</a>');
  expect(shown).toContain('<a href="/discrepancies?kind=paid_twice">the list of them</a>');
  expect(shown).toContain('<a href="/batches/november-20261121-3f9a1c">november-20261121-3f9a1c</a>');
  expect(shown).toContain('then settle it: “Settle by hand”.');
  expect(shown).not.toContain('counterfoil ');
  expect(page).not.toContain('href="/');
});
