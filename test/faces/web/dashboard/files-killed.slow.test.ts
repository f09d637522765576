import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../../../src/custody/open-ledger.ts';
import { batchOf, type Running } from '../../../support/cli.ts';
import { born } from '../../../support/ledger.ts';
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
    const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
    const { db } = ledger;
    const counts = [
      (await db.selectFrom('batches').select('id').execute()).length,
      (await db.selectFrom('payouts').select('id').execute()).length,
      (await db.selectFrom('mends').select('id').execute()).length,
      (await db.selectFrom('preparers').select('id').execute()).length,
    ];
    const moves = await db.selectFrom('file_moves').select('outcome').execute();
    await ledger.close();
    console.log(`killed after ${delayMs} ms: ${counts[0] === 1 ? 'taken' : 'not taken'}`);
    expect(moves.filter(({ outcome }) => outcome !== 'done')).toEqual([]);
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
