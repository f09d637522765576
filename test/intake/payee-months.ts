/** One person of a month; `minor`: kobo. */
export type Person = { id: string; name: string; account: string; bank: string; minor: bigint };

/** Numbers below 1 that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const given = 'Adaeze Bola Chidi Dayo Efe Femi Gozie Halima Ibrahim Jumoke Kemi Lanre Musa Ngozi Obi'.split(
  ' ',
);
const middle = 'Tunde Uche Wale Yemi Zainab Amina Bisi Ẹniọla José Sade Tola Ebun Ife Kunle Ada'.split(' ');
const family = 'Okonkwo Bello Adeyemi Eze Lawal Musa Nwosu Obi Sani Umar Yusuf Alabi Balogun'.split(' ');
const banks = ['058', '044', '011', '033', '057'];

const pick = <T>(from: readonly T[], random: () => number): T =>
  from[Math.floor(random() * from.length)] as T;
const digits = (random: () => number): string =>
  Array.from({ length: 10 }, () => Math.floor(random() * 10)).join('');

function newPerson(id: number, random: () => number): Person {
  const name = `${pick(given, random)} ${pick(middle, random)} ${pick(family, random)}${id}`;
  const minor = BigInt(5_000_000 + Math.floor(random() * 90_000_000));
  return { id: `E${id}`, name, account: digits(random), bank: pick(banks, random), minor };
}

export function firstMonth(seed: number, size: number): Person[] {
  const random = randomNumbers(seed);
  return Array.from({ length: size }, (_, i) => newPerson(i, random));
}

/**
 * The next month of the same people: some joined, left, married, got a raise or are spelled in another way; a few accounts
 * changed. `changed`: the rows of the file that pay a person of before on another account. Without `ids`, a person whose
 * name changed keeps the account: nobody could tell such a one from a stranger. `inherited`: the row of somebody new on
 * the account of one who left; 1 for none.
 */
export function secondMonth(
  seed: number,
  before: readonly Person[],
  { ids }: { ids: boolean },
): { people: Person[]; changed: Set<number>; inherited: number } {
  const random = randomNumbers(seed * 7919);
  const people: Person[] = [];
  const frauds = new Set<string>();
  for (const one of before) {
    const lot = random();
    if (lot < 0.04) continue;
    if (lot < 0.08) people.push({ ...one, name: `${one.name.split(' ')[0]} Married${one.id}` });
    else if (lot < 0.12) people.push({ ...one, name: one.name.replace(/(.)(.)$/, '$2$1x') });
    else if (lot < 0.2)
      people.push({ ...one, name: `Dr. ${one.name.toUpperCase().split(' ').toReversed().join(', ')}` });
    else if (lot < 0.24) people.push({ ...one, minor: (one.minor * 16n) / 10n });
    else if (lot < 0.27) {
      const at = Math.floor(random() * 10);
      const digit = (Number(one.account[at]) + 1 + Math.floor(random() * 9)) % 10;
      people.push(
        fraud({ ...one, account: `${one.account.slice(0, at)}${digit}${one.account.slice(at + 1)}` }),
      );
    } else if (lot < 0.29) people.push(fraud({ ...one, account: digits(random) }));
    else if (lot < 0.31) people.push(fraud({ ...one, bank: one.bank === '058' ? '044' : '058' }));
    else if (lot < 0.32)
      people.push(fraud({ ...one, bank: `${one.bank.slice(0, 2)}${9 - Number(one.bank[2])}` }));
    else if (lot < 0.33) people.push(fraud({ ...one, account: swapped(one.account, random) }));
    else if (lot < 0.35 && ids) people.push(fraud({ ...one, name: 'Another Name', account: digits(random) }));
    else people.push(one);
  }
  // Two neighbours whose accounts were swapped.
  const [a, b] = [people[10], people[11]];
  if (a && b) {
    people[10] = fraud({ ...a, account: b.account, bank: b.bank });
    people[11] = fraud({ ...b, account: a.account, bank: a.bank });
  }
  // One is paid on the account of somebody else, who is paid too.
  const [c, d] = [people[20], people[21]];
  if (c && d) people[20] = fraud({ ...c, account: d.account, bank: d.bank });
  // In a file without keys, a swap tells nothing about somebody whose name changed too.
  const lost = (one: Person): boolean =>
    !ids && !before.some(({ id, name }) => id === one.id && sameName(name, one.name));
  for (let i = 0; i < before.length / 20; i++) people.push(newPerson(100_000 + i, random));
  // A new employee is paid on the account of one who left: nobody of before has another account.
  const left = before.find(({ id }) => people.every((one) => one.id !== id));
  if (left) people.push({ ...newPerson(heir, random), account: left.account, bank: left.bank });
  for (let i = people.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [people[i], people[j]] = [people[j] as Person, people[i] as Person];
  }
  const changed = new Set(people.flatMap((one, i) => (frauds.has(one.id) && !lost(one) ? [i + 2] : [])));
  const inherited = people.findIndex(({ id }) => id === `E${heir}`) + 2;
  return { people, changed, inherited };

  function fraud(one: Person): Person {
    frauds.add(one.id);
    return one;
  }
}

/** An account number with two neighbouring digits that differ in each other's place. */
function swapped(account: string, random: () => number): string {
  const places = account.split('').flatMap((digit, i) => (i > 0 && digit !== account[i - 1] ? [i] : []));
  const at = pick(places, random);
  return `${account.slice(0, at - 1)}${account[at]}${account[at - 1]}${account.slice(at + 1)}`;
}

const sameName = (a: string, b: string): boolean => wordsOf(a).join() === wordsOf(b).join();
const wordsOf = (name: string): string[] => name.toLowerCase().replace('dr. ', '').split(/[ ,]+/).toSorted();

/** The number of a new employee who is paid on the account of one who left. */
const heir = 200_000;

/** The month as a file; its references begin with `prefix`. */
export function fileOf(people: readonly Person[], prefix: string, { ids = true } = {}): string {
  const head = `reference,account_number,account_name,bank_code,amount,currency,narration,sender_name${ids ? ',payee_id' : ''}`;
  const rows = people.map(({ id, name, account, bank, minor }, i) => {
    const amount = `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`;
    return `${prefix}-${i},${account},"${name}",${bank},${amount},NGN,Salary,Acme${ids ? `,${id}` : ''}`;
  });
  return `${[head, ...rows].join('\n')}\n`;
}
