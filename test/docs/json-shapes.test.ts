import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { jsonShapes } from '../../config/docs/json-shapes.ts';
import { batchOf, type Json, parseJson, start } from '../support/cli.ts';
import { droppedByAlice, makeHome } from '../support/decided.ts';

/** How what a command printed differs from the shape that docs/json.md shows. */
function differences(name: string, { schema, ...fields }: Json): string[] {
  const result = jsonShapes[name]?.shape.safeParse(fields);
  if (schema !== 1 || !result) return [`${name} has no shape`];
  return (result.error?.issues ?? []).map((issue) => `${name}: ${issue.path.join('.')}: ${issue.message}`);
}

it('each command prints the object that docs/json.md shows', async () => {
  const home = await makeHome({ faults: { 'PAY-0002': 'fail', 'PAY-0003': 'wrong_amount' } });
  const seen = new Set<string>();
  const differing: string[] = [];
  const see = async (name: string, args: string[]): Promise<Json> => {
    const printed = parseJson(await home.run([...args, '--json']));
    differing.push(...differences(name, printed));
    seen.add(name);
    return printed;
  };
  const file = home.put('pay.csv', batchOf(3));
  await see('init', ['init', 'other']);
  await see('check', ['check', file]);
  await see('check', ['check', home.put('bad.csv', 'reference\nx\n')]);
  await see('submit --dry-run', ['submit', '--dry-run', file]);
  const { batches } = await see('submit', ['submit', '--no-wait', file]);
  const { batch } = batches[0];
  await see('hold', ['hold', batch]);
  await see('release', ['release', batch]);
  await see('hold --mode', ['hold', '--mode']);
  await see('release --mode', ['release', '--mode']);
  await see('submit', ['submit']);
  await home.sandbox.settleAll();
  await see('reconcile', ['reconcile']);
  await see('status', ['status']);
  await see('show', ['show', 'PAY-0001']);
  await see('show', ['show', 'PAY-0003']);
  await see('payouts', ['payouts']);
  await see('batches', ['batches']);
  await see('discrepancies', ['discrepancies']);
  await see('discrepancies --export', ['discrepancies', '--export', 'open.xlsx']);
  const [{ id }] = (await home.json(['discrepancies'], 4)).discrepancies;
  await see('ack', ['ack', id, '--note', 'asked the service']);
  await see('ack', ['resolve', id, '--note', 'agreed']);
  await see('report', ['report']);
  const { evidence_digest } = await see('retry', ['retry', 'PAY-0002']);
  await see('retry', ['retry', 'PAY-0002', '--yes', '--evidence', evidence_digest]);
  await see('settle', ['settle', 'PAY-0001', '--as', 'paid', '--note', 'bank statement']);
  await see('resend', ['resend', 'PAY-0001']);
  const later = await home.json(['submit', '--no-wait', home.put('later.csv', batchOf(2, 11))], 0);
  await see('cancel', ['cancel', 'PAY-0011', '--yes']);
  await see('cancel', ['cancel', later.batches[0].batch, '--yes']);
  const approval = { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' };
  const held = await home.json(['submit', '--no-wait', home.put('more.csv', batchOf(2, 21))], 4, approval);
  await droppedByAlice(home);
  await see('approve', ['approve', held.batches[0].batch]);
  await see('close-period', ['close-period', '2026-10']);
  await see('doctor', ['doctor']);
  await see('config show', ['config', 'show']);
  await see('verify', ['verify']);
  await see('backup', ['backup', 'copy.db']);
  await see('archive', ['archive', '--before', '2026-11-01', '--yes']);
  await see('upgrade', ['upgrade']);
  await see('upgrade --check', ['upgrade', '--check']);
  await see('restore', ['restore', 'copy.db', '--yes']);
  await see('migrate', ['migrate', '--to', 'sqlite:next.db']);
  const sandbox = start(['sandbox', '--json', '--port', '0'], { cwd: join(home.dir) });
  onTestFinished(() => sandbox.signal('SIGTERM'));
  differing.push(...differences('sandbox', JSON.parse(await sandbox.line(/^\{/))));
  expect(differing).toEqual([]);
  expect(Object.keys(jsonShapes).filter((name) => !seen.has(name))).toEqual(['sandbox']);
});
