import { expect, it } from 'vitest';
import { operations } from '../../src/faces/api/operations.ts';
import { type Json, until } from '../support/cli.ts';
import type { PersonName } from './api/support.ts';
import { openDesk } from './web/dashboard/desk.ts';

type Name = keyof typeof operations;
const names = Object.keys(operations) as Name[];

const header =
  'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name,payee_id';
type Line = [reference: string, account: string, name: string, amount: string, id: string];
const fileOf = (...lines: Line[]): string =>
  `${[header, ...lines.map(([reference, account, name, amount, id]) => `${reference},${account},${name},058,${amount},NGN,Salary,Acme,${id}`)].join('\n')}\n`;

/** What somebody else dropped: nobody may see these accounts and names without the role `read`. */
const november: Line[] = [
  ['NOV-1', '3000000001', 'Musa Bello', '1001.00', 'E1'],
  ['NOV-2', '3000000002', 'Ngozi Obi', '1002.00', 'E2'],
  ['NOV-3', '3000000003', 'Halima Sani', '1003.00', 'E3'],
  ['NOV-4', '3000000004', 'Tunde Lawal', '1004.00', 'E4'],
  ['NOV-5', '3000000005', 'Ibrahim Yusuf', '1005.00', 'E5'],
];
const theirs = [
  ...november.flatMap(([, account, name]) => [account, `5${account.slice(1)}`, name]),
  'IFEOMA NWOSU',
  'Ruth Danjuma',
];
/** The next month, as Dayo drops it: another account, another name, one left, one as before. */
const december: Line[] = [
  ['DEC-1', '4000000001', 'M Bello', '1001.00', 'E1'],
  ['DEC-2', '3000000002', 'N Eze', '1002.00', 'E2'],
  ['DEC-4', '3000000004', 'T Lawal', '1004.00', 'E4'],
  ['DEC-5', '4000000005', 'Joined Person', '1007.00', 'E7'],
];
/** Of what Dayo drops, these may be read by the others too: they stand in texts about the file itself. */
const own = new Set(december.flatMap(([, account, name]) => [account, name]));
const secrets = theirs.filter((text) => !own.has(text));
const roles = { dayo: ['drop'], ada: ['approve'], femi: ['decide'], eve: [] };
/** Nobody of them has the role `read`. */
const people: (PersonName | null)[] = [null, 'eve', 'dayo', 'ada', 'femi'];

function tellsNothing(where: string, text: string): void {
  const told = secrets.filter((secret) => text.toLowerCase().includes(secret.toLowerCase()));
  expect(told, `${where}: ${text}`).toEqual([]);
}

it('shows no account and no name of a batch of somebody else without the role read, whatever is asked', async () => {
  const { ask, home, drop } = await openDesk(
    {
      COUNTERFOIL_ADMIN_ROLES: JSON.stringify(roles),
      COUNTERFOIL_SUBMISSION_PAYEES: 'approve_changed',
      COUNTERFOIL_SERVICE_EXTRAS: '{"account_name":"account_name"}',
    },
    undefined,
    { faults: { 'NOV-5': 'fail', 'NOV-3': 'wrong_amount' }, settleMs: 1 },
  );
  for (const [, account, name] of [...november, ...december])
    home.sandbox.extras.names.set(account, name.toUpperCase());
  home.sandbox.extras.names.set('3000000001', 'IFEOMA NWOSU');
  const first = (await home.json(['submit', home.put('november.csv', fileOf(...november))], 4)).batches[0];
  expect(JSON.stringify(first.hold_reasons)).toContain('IFEOMA NWOSU');

  const answered = new Set<Name>();
  /** Asks as everybody without `read`; nobody may read a secret. Returns the last answer that was given. */
  async function see(
    name: Name,
    { query = '', body, type, ...params }: Record<string, string | undefined> = {},
  ): Promise<Json> {
    const { method, path } = operations[name];
    const place = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
    let said: Json = {};
    for (const person of people) {
      const posted = { body: body ?? '{}', headers: { 'content-type': type ?? 'application/json' } };
      const response = await ask(person, `/api/v1${place}${query}`, {
        method: method.toUpperCase(),
        ...(method === 'post' && posted),
      });
      tellsNothing(`${name} as ${person}`, response.text);
      if (response.status === 401 || response.status === 403) continue;
      answered.add(name);
      said = JSON.parse(response.text);
    }
    return said;
  }
  const post = (file: string, more = '') =>
    ({ query: `?name=december.csv${more}`, body: file, type: 'text/csv' }) as const;

  const { batch } = first;
  await see('listBatches');
  await see('getBatch', { batch });
  await see('getStatus');
  await see('listFindings');
  await see('getOpenApi');
  await see('holdBatch', { batch });
  await see('approveBatch', { batch, body: '{"digest":"x"}' });
  expect(await see('releaseBatch', { batch })).toMatchObject({ released: 5 });
  await home.json(['submit'], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 4);
  const [open] = (await home.json(['discrepancies'], 4)).discrepancies;
  await see('acknowledgeDiscrepancy', { id: open.discrepancy_id });
  await see('resolveDiscrepancy', { id: open.discrepancy_id, body: '{"note":"asked the bank"}' });

  const checked = await see('postBatch', post(fileOf(...december), '&check=true'));
  expect(checked.files[0].compared).toMatchObject({
    ...{ with: batch, joined: 1, left: 2, account_changed: 1 },
    changes: expect.arrayContaining([
      expect.objectContaining({ kind: 'account_changed', old: '******0001', new: '4000000001' }),
      expect.objectContaining({ kind: 'name_changed', old: 'hidden', new: 'N Eze' }),
    ]),
  });
  expect(checked.files[0].warnings.join()).toContain('******0001');
  const taken = await see('postBatch', post(fileOf(...december)));
  expect(taken.warnings.join()).toContain('1 payee with another account than before');
  await see('postBatch', post(fileOf(...december)));
  await see('getBatch', { batch: taken.batch });
  const { evidence_digest: evidence } = await see('retryPayout', { reference: 'NOV-5' });
  const retries = `${header},retry_of,retry_evidence\nNOV-5-r2,0000000005,X,058,1.00,NGN,S,A,E5,NOV-5,${evidence}\n`;
  await see('postBatch', post(retries));
  await see('retryPayout', { reference: 'NOV-5', body: JSON.stringify({ evidence }) });
  await see('settlePayout', { reference: 'NOV-3', body: '{"as":"paid","note":"asked"}' });
  await see('resendPayout', { reference: 'NOV-1' });
  await see('cancelPayout', { reference: 'NOV-5-r2' });
  await see('approveBatch', { batch: taken.batch, body: JSON.stringify({ digest: taken.digest }) });
  await see('holdBatch', { batch: taken.batch });
  await see('releaseBatch', { batch: taken.batch });
  await see('rejectBatch', { batch: taken.batch, body: '{"reason":"no"}' });
  await see('cancelBatch', { batch: taken.batch });
  await see('startRun');
  const { runs } = await until(
    20_000,
    async () => see('listRuns'),
    ({ runs }) => runs.every((run: Json) => run.finished_at !== null),
  );
  await see('getRun', { run: runs.at(-1).run });
  const closed = names.filter((name) => operations[name].right === 'read');
  const any = { batch, reference: 'NOV-1', run: runs.at(-1).run, sheet: 'payouts' };
  for (const name of closed) await see(name, any);
  expect([...answered, ...closed].toSorted()).toEqual(names.toSorted());

  /** Every page that the pages link to. */
  async function walk(person: PersonName | null, from: string[]): Promise<number> {
    const seen = new Set<string>();
    const waiting = [...from];
    for (let path = waiting.pop(); path !== undefined && seen.size < 100; path = waiting.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const { text } = await ask(person, path);
      tellsNothing(`${path} as ${person}`, text);
      for (const [, link = ''] of text.matchAll(/href="(\/[^"#]*)"/g))
        waiting.push(link.replaceAll('&#38;', '&'));
    }
    return seen.size;
  }
  const moved = november.map(
    (line): Line => [line[0].replace('NOV', 'MOVE'), `5${line[1].slice(1)}`, ...line.slice(2)] as Line,
  );
  const [asking] = (await home.json(['submit', home.put('moved.csv', fileOf(...moved))], 4)).batches;
  const named = fileOf(['NAME-1', '3000000003', 'Ruth Danjuma', '77.00', '']);
  const [other] = (await home.json(['submit', home.put('named.csv', named)], 4)).batches;
  expect(JSON.stringify(other.hold_reasons)).toContain('Ruth Danjuma');
  const again = fileOf(...december).replaceAll('DEC-', 'JAN-');
  const dropped = await drop('dayo', { 'january.csv': again });
  expect(dropped.location).toContain('/files/checks/');
  const page = (await ask('dayo', dropped.location)).text;
  for (const text of ['Compared with last time', '******0001', '4000000001', 'Joined Person'])
    expect(page).toContain(text);
  const waits = ['/', `/batches/${other.batch}`, `/batches/${asking.batch}/approve`];
  for (const person of people) expect(await walk(person, [...waits, dropped.location])).toBeGreaterThan(10);
}, 120_000);
