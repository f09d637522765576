import { expect, it } from 'vitest';
import { batchOf, makeHome } from '../../support/cli.ts';

/** Tells, when the process ends, of which packages it loaded anything. */
const teller = `import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({ resolve(name, context, next) {
  const found = next(name, context);
  const inside = found.url.split('/node_modules/').at(-1);
  if (inside !== found.url) loaded.add(inside.match(/^(@[^/]+[/])?[^/]+/)[0]);
  return found;
} });
process.on('exit', () => process.stderr.write('loaded ' + [...loaded].sort().join(' ') + '\\n'));`;

const ofEveryCommand = ['better-sqlite3', 'big.js', 'commander', 'currency-codes', 'kysely', 'yaml', 'zod'];
const ofCurrencyCodes = ['first-match', 'nub'];
/** How wide a text is on a terminal. */
const ofTables = [
  'emoji-regex',
  'is-fullwidth-code-point',
  'string-width',
  'get-east-asian-width',
  'strip-ansi',
  'ansi-regex',
];
/** When the schedules are due, and how that is written. */
const ofSchedules = ['luxon', 'node-cron'];

it('status loads what it uses: nothing that draws, reads workbooks, speaks to a queue, a PostgreSQL or the service', async () => {
  const home = await makeHome();
  await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(1))], 0);
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(teller)}`;
  const { code, err } = await home.run(['status'], { NODE_OPTIONS });
  expect(code).toBe(0);
  const loaded = /^loaded (.*)$/m.exec(err)?.[1]?.split(' ') ?? [];
  expect(loaded).toContain('better-sqlite3');
  const known = [...ofEveryCommand, ...ofCurrencyCodes, ...ofTables, ...ofSchedules];
  expect(loaded.filter((name) => !known.includes(name))).toEqual([]);
});
