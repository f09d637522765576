import { expect, it } from 'vitest';
import { payeeNameKey, payeeNameLetters } from '../../src/core/domain/payee-name.ts';
import { nameLetters } from '../../src/core/storage/migrations/0009-payee-names.ts';
import { fileOf, firstMonth, type Person } from './payee-months.ts';
import { type Setting, setting } from './setting.ts';

const day = 86_400_000;
const brake = 'submission: { payees: approve_changed }';
const names = 'Ada Bola Chidi Dayo Efe Femi Gozie Halima Ibrahim Jumoke'.split(' ');
const staff: Person[] = names.map((name, i) => ({
  id: `E${i}`,
  name: `${name} Okon${'abcdefghij'[i] ?? ''}`,
  account: `01234567${i}${i}`,
  bank: '058',
  minor: BigInt(20_000_000 + i * 100_000 + i),
}));
const stranger = '9999999990';
const [ada, bola, chidi, dayo] = staff as [Person, Person, Person, Person, ...Person[]];
/** The staff with one of them on another account. */
const with7 = (over: Partial<Person>): Person[] =>
  staff.map((one, i) => (i === 7 ? { ...one, ...over } : one));
const fraud = with7({ account: stranger });
/** People who make a file longer, all on one account. */
const padding: Person[] = Array.from({ length: 11 }, (_, i) => ({
  ...{ id: `Z${i}`, name: `Pad Person${'abcdefghijk'[i] ?? ''}`, account: '8888888880', bank: '058' },
  minor: BigInt(200 + i),
}));

async function take(s: Setting, name: string, content: string) {
  const taken = await s.intake.takeIn(s.drop(name, content), { origin: 'inbox' });
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken;
}

/** Takes a file in, whose payouts then all are in this state; the day passes. */
async function passes(
  s: Setting,
  name: string,
  content: string,
  state: 'success' | 'cancelled' | 'ready' = 'success',
) {
  const { batch } = await take(s, name, content);
  await s.ledger.write(async (trx) => {
    await trx.updateTable('payouts').set({ state }).where('batch_id', '=', batch).execute();
    await trx.updateTable('batches').set({ held: 0n, hold_reasons: '[]' }).where('id', '=', batch).execute();
  });
  s.clock.advance(15 * day);
}

/** Which rows of a file pay somebody on another account, by the brake that holds it. */
async function changedIn(s: Setting, content: string, name = 'next.csv'): Promise<number[]> {
  const { holdReasons } = await take(s, name, content);
  return holdReasons.flatMap((one) =>
    one.kind === 'approval' && one.why.kind === 'payees' ? one.why.rows : [],
  );
}

it.each([true, false])(
  'P37: a file of one row is compared with all that was paid (payee_id: %s)',
  async (ids) => {
    const s = await setting(brake);
    await passes(s, 'november.csv', fileOf(staff, 'N', { ids }));
    expect(await changedIn(s, fileOf([{ ...dayo, account: stranger }], 'O', { ids }))).toEqual([2]);
  },
);

it.each([
  ['a few of the staff', [ada, bola, { ...chidi, account: stranger }], 4],
  ['the staff and more people', [{ ...ada, account: stranger }, ...staff.slice(1), ...padding], 2],
  ['the account of a colleague', [{ ...ada, account: dayo.account }], 2],
  ['the account and the key of a colleague', [{ ...ada, account: dayo.account, id: dayo.id }], 2],
  ['a key that was never used', [{ ...ada, account: stranger, id: 'E99' }], 2],
  ['another bank', [{ ...ada, bank: '044' }], 2],
])('P37: names the row of %s', async (_what, people, row) => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  expect(await changedIn(s, fileOf(people, 'D'))).toEqual([row]);
});

it('P37: a batch in between of some of the people hides no change of the others', async () => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  await passes(
    s,
    'bonus.csv',
    fileOf(
      staff.slice(0, 5).map((one) => ({ ...one, minor: 100n + one.minor })),
      'B',
    ),
  );
  expect(await changedIn(s, fileOf(fraud, 'D'))).toEqual([9]);
});

it('P37: a month without them hides no change', async () => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  await passes(
    s,
    'december.csv',
    fileOf(
      staff.filter((_, i) => i !== 7),
      'D',
    ),
  );
  expect(await changedIn(s, fileOf(fraud, 'J'))).toEqual([9]);
});

it.each(['cancelled', 'ready'] as const)(
  'P37: a changed payout that is %s vouches for nobody',
  async (state) => {
    const s = await setting(brake);
    await passes(s, 'november.csv', fileOf(staff, 'N'));
    await passes(s, 'december.csv', fileOf([...fraud, ...padding], 'D'), state);
    expect(await changedIn(s, fileOf(fraud, 'J'))).toEqual([9]);
  },
);

it('P37: what was approved and paid is known from then on', async () => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  await passes(s, 'december.csv', fileOf(fraud, 'D'));
  expect(await changedIn(s, fileOf(fraud, 'J'))).toEqual([]);
});

it('P37: people of one name, and one person with two accounts, are no change', async () => {
  const s = await setting(brake);
  const namesake = { ...ada, id: 'E70', account: '7070707070' };
  const second = { ...bola, account: '6060606060' };
  const people = [...staff, namesake, second];
  await passes(s, 'november.csv', fileOf(people, 'N'));
  expect(await changedIn(s, fileOf(people.toReversed(), 'D'))).toEqual([]);
});

it.each([
  'Hаlima Okonh',
  'Halima A. Okonh',
  'HalimaOkonh',
  'Hali-ma Okonh',
  'Halima 0konh',
  'Halimaː Okonh',
  'OKONH Halima II',
])('P37: %s is Halima Okonh on another account', async (name) => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N', { ids: false }));
  expect(await changedIn(s, fileOf(with7({ account: stranger, name }), 'D', { ids: false }))).toEqual([9]);
});

it.each([true, false])(
  'P37: salaries and expenses on two accounts of the same people are no change once known (payee_id: %s)',
  async (ids) => {
    const s = await setting(brake);
    const cards = staff.map((one, i) => ({
      ...one,
      account: `55555555${i}${i}`,
      minor: 100_000n + BigInt(i),
    }));
    const found: number[] = [];
    for (const month of [1, 2, 3])
      for (const [what, people] of [
        ['salaries', staff],
        ['expenses', cards],
      ] as const) {
        const name = `${what}-${month}`;
        const raised = people.map((one) => ({ ...one, minor: one.minor + BigInt(month) * 7n }));
        found.push((await changedIn(s, fileOf(raised, `${name}-`, { ids }), `${name}.csv`)).length);
        await s.ledger.write(async (trx) => {
          await trx.updateTable('payouts').set({ state: 'success' }).execute();
          await trx.updateTable('batches').set({ held: 0n, hold_reasons: '[]' }).execute();
        });
        s.clock.advance(15 * day);
      }
    expect(found).toEqual([0, 5, 0, 0, 0, 0]);
  },
);

it('P25, P37: a row that was never sent vouches for no account, though an adopted ledger calls it unknown', async () => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  const { batch } = await take(s, 'december.csv', fileOf(fraud, 'D'));
  await s.ledger.write(async (trx) => {
    await trx.updateTable('payouts').set({ state: 'unknown' }).where('batch_id', '=', batch).execute();
    await trx.updateTable('batches').set({ held: 0n, hold_reasons: '[]' }).where('id', '=', batch).execute();
  });
  s.clock.advance(15 * day);
  expect(await changedIn(s, fileOf([fraud[7] ?? ada], 'J'))).toEqual([2]);
});

it('P37: sixty accounts of one name are known in another spelling of it, and branches by number are others', async () => {
  const s = await setting(brake);
  const shops = Array.from({ length: 60 }, (_, i) => ({
    ...{ id: '', name: 'Mama Put Stores', account: String(4_000_000_000 + i), bank: '058' },
    minor: BigInt(1_000_000 + i),
  }));
  const branches = [5, 12].map((n) => ({
    ...ada,
    id: '',
    name: `Lekki Branch ${n}`,
    account: String(5_000_000_000 + n),
  }));
  await passes(s, 'november.csv', fileOf([...shops, ...branches], 'N', { ids: false }));
  const again = shops.map((one) => ({ ...one, name: 'MAMA PUT STORES' }));
  const next = { ...ada, id: '', name: 'Lekki Branch 21', account: '5000000007' };
  expect(await changedIn(s, fileOf([...again, ...branches, next], 'D', { ids: false }))).toEqual([]);
});

it.each(['e7', 'Ｅ7', 'E7\u00a0'])('P37: the key %s is E7', async (id) => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  const renamed = with7({ account: stranger, id, name: 'Somebody Else' });
  expect(await changedIn(s, fileOf(renamed, 'D'))).toEqual([9]);
});

/** The same people, all with this key of the employer. */
const keyed = (people: readonly Person[], id: string): Person[] => people.map((one) => ({ ...one, id }));
const hired: Person = { ...ada, name: 'Zainab Umarz', account: '7777777777' };

it.each(['N/A', '-', 'none', '0'])('P37: the key %s of many people says nothing of a new one', async (id) => {
  const s = await setting(brake);
  await passes(s, 'november.csv', fileOf([...keyed(staff.slice(0, 5), id), ...staff.slice(5)], 'N'));
  const next = [...keyed(staff.slice(0, 5), id), ...staff.slice(5), { ...hired, id }];
  expect(await changedIn(s, fileOf(next, 'D'))).toEqual([]);
  expect(await changedIn(s, fileOf([{ ...hired, account: '7777777778', id }], 'O'), 'one.csv')).toEqual([]);
  const moved = [{ ...ada, account: stranger, id }, ...next.slice(1, -1)];
  expect(await changedIn(s, fileOf(moved, 'J'), 'january.csv'), 'the name still tells').toEqual([2]);
});

it.each(['N/A', 'n.a.', 'None', 'NIL', '-', '—', '0', 'Unknown', 'TBD', '?', 'xxx'])(
  'P37: the key %s of one earlier person says nothing of a new one',
  async (id) => {
    const s = await setting(brake);
    await passes(s, 'november.csv', fileOf([...keyed(staff.slice(0, 1), id), ...staff.slice(1)], 'N'));
    const next = [...keyed(staff.slice(0, 1), id), ...staff.slice(1), { ...hired, id }];
    expect(await changedIn(s, fileOf(next, 'D'))).toEqual([]);
    expect(await changedIn(s, fileOf([{ ...hired, id }], 'O'), 'one.csv')).toEqual([]);
  },
);

it.each([6, 10])(
  'P37: petty expenses of %s people make the next salaries no hundred times larger',
  async (n) => {
    const s = await setting(brake);
    await passes(s, 'november.csv', fileOf(staff, 'N'));
    const petty = staff.slice(0, n).map((one, i) => ({ ...one, minor: BigInt(100_000 + i) }));
    await passes(s, 'petty.csv', fileOf(petty, 'P'));
    const checked = await s.intake.check(s.drop('next.csv', fileOf(staff, 'D')));
    expect(checked.compared).toMatchObject({
      day: '2026-11-21',
      hundredfold: { count: 0 },
      amountChanged: 0,
    });
    const slip = staff.map((one) => ({ ...one, minor: one.minor * 100n }));
    const { compared } = await s.intake.check(s.drop('slip.csv', fileOf(slip, 'S')));
    expect(compared?.hundredfold.count, 'kobo as whole units').toBe(10);
  },
);

it('P37: an account of before the last change is a change, though a file with the same columns paid it', async () => {
  const s = await setting(brake);
  const noted = (text: string): string =>
    text
      .replaceAll(/\n(?=.)/g, ',x\n')
      .replace(/,x\n/, ',note\n')
      .replace(/\n$/, ',x\n');
  await passes(s, 'november.csv', fileOf(staff, 'N'));
  await passes(s, 'december.csv', noted(fileOf(fraud, 'D')));
  const old = s.drop('next.csv', fileOf(staff, 'J'));
  expect((await s.intake.check(old)).compared?.changes).toMatchObject([
    { row: 9, kind: 'account_changed', old: stranger, new: staff[7]?.account },
  ]);
  expect(await changedIn(s, fileOf(staff, 'J'), 'january.csv')).toEqual([9]);
});

it('keeps a title beside a single word, and letters in one order', () => {
  expect(payeeNameKey('Prince Okafor')).not.toBe(payeeNameKey('Princess Okafor'));
  expect(payeeNameKey('ADEYEMI, Dr. Bọla')).toBe(payeeNameKey('Bola Adeyemi'));
  expect(payeeNameLetters('ADEYEMI, Dr. Bọla')).toBe(payeeNameLetters('bolaadeyemi'));
});

it.each([
  ['an employee number', 'Beneficiary Number 017', 'abbceeefllmnnrruy 017'],
  ['a title and an ordinal', "Chief Ngozi O'Neil-Bello II", 'beeglllllnnoooz'],
  ['letters of two scripts', 'Ọlá B. Ṣadé 2 Lаo', 'aaadelloos 2'],
  ['letters of two units', '𝐀𝐝𝐚 漢字 𐐨𐐩', 'aad字漢\ud801\ud801\udc28\udc29'],
  ['more letters than a name has', `Ada ${'Zb'.repeat(60)} 9`, `aa${'b'.repeat(60)}d${'z'.repeat(60)} 9`],
])('finds the same letters as an upgrade fills in: %s', (_, name, letters) => {
  expect(payeeNameLetters(name)).toBe(letters);
  expect(nameLetters(name)).toBe(letters);
});

it('compares people who were paid for a year about as fast as new ones', async () => {
  const s = await setting();
  const people = firstMonth(1, 2000);
  const strangers = firstMonth(2, 2000).map((one) => ({ ...one, id: `S${one.id}` }));
  for (let month = 0; month < 12; month++)
    await passes(s, `m${month}.csv`, fileOf(people, `M${month}-`, { ids: month % 2 === 0 }));
  const timed = async (name: string, rows: Person[]): Promise<number> => {
    const file = s.drop(name, fileOf(rows, name));
    const began = performance.now();
    await s.intake.check(file);
    return performance.now() - began;
  };
  const fresh = await timed('fresh.csv', strangers);
  expect(await timed('known.csv', people)).toBeLessThan(fresh * 3 + 300);
}, 120_000);
