import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import { holdReasonsOf, readReasons } from '../../src/core/ledger/hold-reasons.ts';
import { countRows } from '../../src/core/storage/counting.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf, type Done, parseJson, type Running, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { born } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const count = 12_000;

/** Keeps each change of the batch's reasons in the order of the commits, and each intent of a payout of a held batch. */
async function watched(place: string) {
  const ledger = await openLedger(place, { now: () => born });
  onTestFinished(() => ledger.close());
  for (const text of [
    `create table race (seq integer primary key, reasons text not null)`,
    `create trigger race_reasons after update of hold_reasons on batches
      when old.hold_reasons <> new.hold_reasons begin insert into race (reasons) values (new.hold_reasons); end`,
    `create table race_broken (payout_id integer not null)`,
    `create trigger race_intents after insert on attempts begin
      insert into race_broken select new.payout_id from payouts p join batches b on b.id = p.batch_id
        where p.id = new.payout_id and b.held = 1; end`,
  ])
    await sql.raw(text).execute(ledger.db);
  const rowsOf = async (text: string) => (await sql.raw<{ one: string }>(text).execute(ledger.db)).rows;
  const countOf = (state: PayoutState) =>
    countRows(ledger.db.selectFrom('payouts').where('state', '=', state));
  return {
    /** The kinds of each set of reasons since the last call, such as `['releasing', 'person']`. */
    async changes(): Promise<string[]> {
      const rows = await rowsOf('select reasons as one from race order by seq');
      await rowsOf('delete from race');
      return rows.map(({ one }) =>
        readReasons(one)
          .map(({ kind }) => kind)
          .join(),
      );
    },
    intentsWhileHeld: () => rowsOf('select payout_id as one from race_broken'),
    async standing(batch: string) {
      const { reasons } = await holdReasonsOf(ledger.db, batch);
      return {
        kinds: reasons.map(({ kind }) => kind),
        ready: await countOf('ready'),
        held: await countOf('held'),
      };
    },
  };
}

/** Starts both at once, or the second so many milliseconds after the first; a negative number turns them round. */
async function race(first: () => Running, second: () => Running, offsetMs: number): Promise<[Done, Done]> {
  if (offsetMs < 0) {
    const [two, one] = await race(second, first, -offsetMs);
    return [one, two];
  }
  const one = first();
  if (offsetMs > 0) await sleep(offsetMs);
  return Promise.all([one.done, second().done]);
}

/** Small ones both ways, and some in which one finds the other in the middle of its transactions. */
const offsets = (): number[] =>
  [5, 20, 60, 150, 400].flatMap((most) => [-1, 1].map((sign) => Math.round(sign * most * Math.random())));

it.skipIf(onPostgres)(
  'P21: of a hold and a release of 12,000 at once the later decision stands, whole, and nothing held is sent',
  async () => {
    const home = await makeHome();
    const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(count)), '--no-wait'], 0))
      .batches[0];
    const watch = await watched(join(home.dir, 'data/ledger.db'));
    const met = new Set<string>();
    for (const [round, offset] of [0, ...offsets(), 0, ...offsets()].entries()) {
      await home.run([round % 2 === 0 ? 'hold' : 'release', batch]);
      await watch.changes();
      const [hold, release] = await race(
        () => home.start(['hold', batch, '--json']),
        () => home.start(['release', batch, '--json']),
        offset,
      );
      const changes = await watch.changes();
      const { kinds, ready, held } = await watch.standing(batch);
      const told = `round ${round}, ${offset} ms: ${changes.join(' > ')}\n${hold.out}${hold.err}${release.out}${release.err}`;
      const holdIsLater = changes.lastIndexOf('person') > changes.lastIndexOf('releasing');
      met.add(holdIsLater ? 'hold' : 'release');
      expect({ kinds, ready, held }, told).toEqual(
        holdIsLater ? { kinds: ['person'], ready: 0, held: count } : { kinds: [], ready: count, held: 0 },
      );
      if (holdIsLater) expect(hold.code, told).toBe(0);
      else expect(release.code, told).toBe(0);
      // A hold that says 0 was true when it ended; one that was released meanwhile says that.
      expect(hold.code, told).toBe(parseJson(hold).released_since ? 4 : 0);
    }
    expect([...met].sort(), 'each came second at least once').toEqual(['hold', 'release']);
    await home.run(['hold', batch]);
    const sent = await home.run(['submit']);
    expect(sent, sent.err).toMatchObject({ code: 4 });
    expect(home.sandbox.requests.posts).toBe(0);
  },
  480_000,
);

it.skipIf(onPostgres)(
  'P21: while submit sends, a hold and a release at once let no intent of a held batch begin',
  async () => {
    const home = await makeHome();
    const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(count)), '--no-wait'], 0))
      .batches[0];
    const watch = await watched(join(home.dir, 'data/ledger.db'));
    for (const [round, offset] of [0, ...offsets().slice(2, 8)].entries()) {
      const before = home.sandbox.requests.posts;
      const submit = home.start(['submit']);
      let isOver = false;
      void submit.done.then(() => (isOver = true));
      // On a busy machine both may decide before it sends anything: every other round waits for its first request.
      while (round % 2 === 1 && home.sandbox.requests.posts === before && !isOver) await sleep(5);
      await race(
        () => home.start(['hold', batch]),
        () => home.start(['release', batch]),
        offset,
      );
      const last = await home.start(['hold', batch]).done;
      expect(last.code, last.err).toBe(0);
      await submit.done;
      const { kinds, ready } = await watch.standing(batch);
      expect({ kinds, ready }, `${offset} ms`).toEqual({ kinds: ['person'], ready: 0 });
      expect(await watch.intentsWhileHeld(), `${offset} ms`).toEqual([]);
      const { posts } = home.sandbox.requests;
      await home.run(['submit']);
      expect(home.sandbox.requests.posts).toBe(posts);
      await home.run(['release', batch]);
    }
    expect(home.sandbox.requests.posts).toBeGreaterThan(0);
    expect(home.sandbox.requests.posts, 'each once').toBeLessThanOrEqual(count);
  },
  480_000,
);

it('P21: a killed release of 12,000 sends nothing, says so in status, and the next submit finishes it', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(count)), '--no-wait'], 0))
    .batches[0];
  await home.run(['hold', batch]);
  const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now: () => born });
  onTestFinished(() => ledger.close());
  const ready = () => countRows(ledger.db.selectFrom('payouts').where('state', '=', 'ready'));
  const release = home.start(['release', batch]);
  await until(20_000, ready, (n) => n > 0);
  release.signal('SIGKILL');
  await release.done;
  expect(await ready()).toBeLessThan(count);
  const status = await home.run(['status']);
  expect(status).toMatchObject({ code: 4, out: expect.stringContaining('its release is in progress') });
  const submit = home.start(['submit']);
  await until(
    20_000,
    () => holdReasonsOf(ledger.db, batch),
    ({ reasons }) => reasons.length === 0,
  );
  await until(
    20_000,
    () => home.sandbox.requests.posts,
    (posts) => posts > 0,
  );
  submit.signal('SIGINT');
  await submit.done;
  const held = ledger.db.selectFrom('payouts').where('state', '=', 'held');
  expect(await countRows(held)).toBe(0);
}, 240_000);
