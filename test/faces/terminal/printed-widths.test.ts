import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { faultsOf, plan } from '../../../src/demo/plan.ts';

import { batchOf } from '../../support/cli.ts';
import { hurried } from '../../support/clock.ts';
import { makeHome } from '../../support/decided.ts';

const samples = fileURLToPath(new URL('../../../data/samples/', import.meta.url));
const files = ['november-salaries.csv', 'contractors-zar.csv'];
const atOnce = {
  COUNTERFOIL_RECEIVER_ENABLED: 'false',
  COUNTERFOIL_SUBMISSION_HALT_AFTER_UNKNOWN: '0',
  COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0',
};

/** A line may be wider only for a path or a command, which people copy in one piece. */
function tooWide(out: string): string[] {
  return out
    .split('\n')
    .filter((line) => stringWidth(line) > 80 && !/\/\S*\.\w+|counterfoil [a-z]/.test(line));
}

it('no line is wider than 80 characters with the data of the demo, and none has colours', async () => {
  const home = await makeHome({ faults: faultsOf(plan), settleMs: 1 }, atOnce);
  for (const name of files) copyFileSync(join(samples, name), join(home.dir, basename(name)));
  const outputs: string[] = [];
  const run = async (...args: string[]): Promise<string> => {
    const { out, err } = await home.run(args, { COLUMNS: '80' });
    expect(err, args.join(' ')).not.toMatch(/\n\s+at /);
    expect(tooWide(out), args.join(' ')).toEqual([]);
    expect(out, args.join(' ')).not.toContain('\u001b');
    outputs.push(out);
    return out;
  };
  await run('status');
  expect(await run('check', ...files)).toMatch(/^Next: counterfoil submit november-salaries\.csv /m);
  expect(await run('submit', ...files)).toMatch(/^Next: +counterfoil reconcile$/m);
  await home.sandbox.settleAll();
  expect(await run('reconcile')).toMatch(/^Report: data\/reports\/reconciliation-\S+\/report\.html$/m);
  expect(await run('status')).toMatch(/^Next: counterfoil discrepancies$/m);
  home.put('december-salaries.csv', batchOf(2));
  await run('submit', 'december-salaries.csv', '--no-wait');
  expect(await run('status'), 'each batch in one line').toMatch(
    /^ {2}Batch +Paid +Waiting +In flight +Open$/m,
  );
  expect(await run('show', 'SAL-2026-11-009')).toMatch(/it was paid: counterfoil settle SAL-2026-11-009/);
  await run('discrepancies');
  const [batch = ''] = home.names('data/reports').filter((name) => name.startsWith('november'));
  expect(await run('retry', '--batch', batch, '--state', 'unknown')).toMatch(/SAL-2026-11-009 .*same ref$/m);
  await run('retry', 'SAL-2026-11-011');
  await run('verify');
  await run('hold', batch);
  await run('release', batch);
  await run('report');
  await run('backup', 'copy.db');
  await home.sandbox.stop();
  expect(await hurried(() => run('reconcile'))).toMatch(
    /not compared\n[\s\S]*Nothing was compared[\s\S]*^Next: +counterfoil doctor$/m,
  );
  expect(outputs.join(''), 'times and amounts are for people').not.toMatch(/\d{4}-\d\d-\d\dT|\d{5,}\.\d\d\b/);
}, 60_000);
