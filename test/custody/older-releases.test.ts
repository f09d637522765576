import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { upgradeLedger } from '../../src/custody/upgrade-ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { runRows } from '../../src/reporting/run-sheets.sql.ts';
import { findHalt } from '../../src/sending/halts.sql.ts';
import { placeOf } from '../../src/storage/place.ts';
import { claimAt } from '../support/ledger.ts';
import { startNextVersion } from '../support/older-ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const fixtures = fileURLToPath(new URL('../fixtures/ledgers', import.meta.url));
const releases = readdirSync(fixtures).flatMap((name) => /^(.*)\.db\.gz$/.exec(name)?.[1] ?? []);

type Facts = {
  run: string;
  states: { state: string; n: number }[];
  statement: string[][];
  digests: [batch: string, digest: string][];
};

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-older-'));
  path = join(folder, 'ledger.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const now = (): string => '2027-01-04T08:00:00.000Z';

function unpack(release: string): Facts {
  writeFileSync(path, gunzipSync(readFileSync(join(fixtures, `${release}.db.gz`))), { mode: 0o600 });
  return JSON.parse(readFileSync(join(fixtures, `${release}.json`), 'utf8'));
}

/** The definitions of all tables, indexes and triggers, in one order and with one kind of space. */
function schemaOf(file: string): string[] {
  const ledger = new Database(file, { readonly: true });
  const all = ledger
    .prepare("select sql from sqlite_master where sql is not null and name not like 'kysely_%'")
    .pluck()
    .all();
  ledger.close();
  return all.map((sql) => String(sql).replaceAll(/\s+/g, ' ')).toSorted();
}

describe.skipIf(onPostgres).each(releases)('the ledger of release %s', (release) => {
  it('is brought to this version, proven, and says what it said', async () => {
    const facts = unpack(release);
    const upgraded = await upgradeLedger(placeOf(path), { mode: 'test', now });
    expect(['current', 'upgraded']).toContain(upgraded.kind);
    const { ok, batches } = await verifyLedger(path);
    expect(ok).toBe(true);
    expect(batches.map(({ batch, digest }) => [batch, digest])).toEqual(facts.digests);
    const ledger = await openLedger(path, { now, mode: 'test' });
    const states = await ledger.db
      .selectFrom('payouts')
      .select(['state', (on) => on.fn.countAll<bigint>().as('n')])
      .groupBy('state')
      .orderBy('state')
      .execute();
    expect(states.map(({ state, n }) => ({ state, n: Number(n) }))).toEqual(facts.states);
    const statement: string[][] = [];
    for await (const page of runRows(ledger.db, facts.run, 'statement'))
      statement.push(...page.map((cells) => JSON.parse(cells)));
    expect(statement).toEqual(facts.statement);
    await ledger.close();
  });

  it('has this schema after the upgrade (before the first release: npm run fixture:ledger)', async () => {
    unpack(release);
    await upgradeLedger(placeOf(path), { mode: 'test', now });
    const fresh = join(folder, 'fresh.db');
    await (await openLedger(fresh, { now, mode: 'test' })).close();
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
  });

  it('P25: sends nothing, since no mark of it is here', async () => {
    unpack(release);
    const ledger = await openLedger(path, { now, mode: 'test' });
    expect(await findHalt(ledger.db)).toBeDefined();
    expect(await claimAt(ledger, now())).toEqual([]);
    await ledger.close();
  });

  it('is backed up before the next version changes it', async () => {
    unpack(release);
    await upgradeLedger(placeOf(path), { mode: 'test', now });
    startNextVersion();
    const upgraded = await upgradeLedger(placeOf(path), { mode: 'test', now });
    expect(upgraded).toMatchObject({ kind: 'upgraded', backup: expect.stringContaining('before-upgrade-') });
    expect((await verifyLedger(path)).ok).toBe(true);
  });
});

it('has a ledger of this version', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(releases).toContain(version);
});
