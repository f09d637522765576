import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { batchOf, type Running } from '../../../support/cli.ts';
import { openDesk } from './desk.ts';

const rows = 12_000;
const broken = batchOf(rows).replace('1001.50', '1,001.50').replace(',1,001.50,', ',"1,001.50",');

it.each([5, 60, 150, 250, 350, 500, 800])(
  'P34: takes a mended file in whole or not at all where serve is killed %s ms later, and keeps the original with it',
  async (delayMs) => {
    let daemon: Running | undefined;
    const { home, drop, ask, post, hiddenIn } = await openDesk({}, (own) => (args, env) => {
      daemon = own.start(args, env);
      return daemon;
    });
    const { location } = await drop('rita', { 'big.csv': broken });
    const field = /name="(cell-[^"]+)"/.exec((await ask('rita', location)).text)?.[1] ?? '';
    const mended = await post('rita', `${location}/mend`, { [field]: '1001.50' });
    const page = (await ask('rita', mended.location)).text;
    expect(page).toContain('It can be taken in');
    const taking = post('rita', `${mended.location}/take`, hiddenIn(page)).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    daemon?.signal('SIGKILL');
    await Promise.all([taking, daemon?.done]);
    await home.run(['submit', '--no-wait']);
    const db = new Database(join(home.dir, 'data/ledger.db'), { readonly: true });
    const count = (table: string): number =>
      Number(db.prepare(`select count(*) from ${table}`).pluck().get());
    const counts = ['batches', 'payouts', 'mends', 'preparers'].map(count);
    const lost = db.prepare(`select count(*) from file_moves where outcome is not 'done'`).pluck().get();
    db.close();
    console.log(`killed after ${delayMs} ms: ${counts[0] === 1 ? 'taken' : 'not taken'}`);
    expect(lost).toBe(0);
    const archive = home.names('data/archive');
    if (counts[0] === 0) {
      expect(counts).toEqual([0, 0, 0, 0]);
      expect(archive).toEqual([]);
      const id = mended.location.split('/').at(-1) ?? '';
      const own = join(home.dir, 'data/drops', `upload-${id}`);
      expect(readdirSync(own)).toContain('big.csv');
      expect(readFileSync(join(own, '.original.csv'), 'utf8')).toBe(broken);
      return;
    }
    expect(counts).toEqual([1, rows, 1, 2]);
    const contents = archive.map((name) => home.read(`data/archive/${name}`)).toSorted();
    expect(contents).toEqual([broken, broken.replace('"1,001.50"', '"1001.50"')].toSorted());
  },
  60_000,
);
