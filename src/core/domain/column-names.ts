import { columnKey, type KnownColumn, knownColumn, knownColumns } from './batch-rules.ts';
import { nearest } from './nearest.ts';

/** What other programs call our columns, as {@link columnKey} writes it. */
const otherNames: Record<KnownColumn, readonly string[]> = {
  reference: [
    'ref',
    'refno',
    'refnumber',
    'referenceno',
    'referencenumber',
    'paymentreference',
    'paymentref',
  ],
  account_number: [
    ...['accountno', 'accountnr', 'accno', 'accnumber', 'acctno', 'acctnumber', 'acct', 'account', 'nuban'],
    ...['bankaccount', 'bankaccountnumber', 'beneficiaryaccount', 'beneficiaryaccountnumber'],
  ],
  account_name: [
    ...['acctname', 'accname', 'accountholder', 'beneficiary', 'beneficiaryname', 'payee', 'payeename'],
    ...['recipient', 'recipientname', 'name', 'fullname', 'employee', 'employeename'],
  ],
  bank_code: ['bank', 'bankid', 'bankno', 'sortcode', 'branchcode', 'beneficiarybank', 'beneficiarybankcode'],
  amount: ['amt', 'value', 'netpay', 'netamount', 'netsalary', 'salary', 'paymentamount'],
  currency: ['ccy', 'cur', 'curr', 'currencycode'],
  narration: ['narrative', 'description', 'remark', 'remarks', 'memo', 'purpose'],
  sender_name: ['sender', 'payer', 'payername', 'originator'],
  type: [],
  pay_on: [],
  payee_id: [],
};

const meantBy = new Map(
  knownColumns.flatMap((column) => otherNames[column].map((name) => [name, column] as const)),
);

/** Longer than any name of a column: a cell may hold anything. */
const longest = 30;

/** The column that a header cell most likely means; null where it is known, or means none of ours. */
export function meantColumn(header: string): KnownColumn | null {
  // A hidden character or a quote in a name has a problem of its own.
  if (knownColumn(header) !== null || !/^[\p{L}\p{N}\s_.:#*()/-]+$/u.test(header)) return null;
  const key = columnKey(header).replaceAll(/[^a-z0-9]/g, '');
  const exact = meantBy.get(key) ?? knownColumn(key);
  if (exact) return exact;
  // In a short name, two other letters make another word.
  const best = key.length < 6 || key.length > longest ? undefined : nearest(key, knownColumns.map(columnKey));
  return best && best.far <= 2 ? knownColumn(best.name) : null;
}

/** Columns that a file need not have, so that none is missing where a name is misspelt: its rows would be paid early. */
const optional = ['pay_on', 'payee_id'] as const satisfies readonly KnownColumn[];
type Optional = (typeof optional)[number];
const namesOf: Record<Optional, readonly string[]> = {
  pay_on: ['pay_on', 'pay_on_date', 'pay_on_day'],
  payee_id: ['payee_id'],
};

/** Letters and digits that look like these Latin letters, alone or in capitals. */
const alike: Record<string, string> = {
  a: 'аαɑ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еεєҽ',
  i: 'іιı',
  l: 'ӏ1',
  n: 'ոηпռν',
  o: 'оοσօ0',
  p: 'рρ',
  s: 'ѕ5',
  t: 'тτ',
  u: 'υս',
  y: 'уγүʏ',
};
const looksAs = new Map(
  Object.entries(alike).flatMap(([latin, all]) => Array.from(all, (one) => [one, latin] as const)),
);

/** A name as the eye reads it: without accents, spaces and signs, each letter as the Latin one that it looks like. */
function lookOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return Array.from(plain, (letter) => looksAs.get(letter) ?? letter).join('');
}

/** The same where a capital I and a small l are one. */
const roughLookOf = (name: string): string => lookOf(name).replaceAll('l', 'i');

/** One letter from ours, and another word. */
const otherWords = new Set(['payor', 'payerid']);

/** The optional column that a header cell nearly names; null where it names a column of ours, or none nearly. */
export function misnamedColumn(header: string): Optional | null {
  const look = roughLookOf(header);
  if (knownColumn(header) !== null || otherWords.has(look) || look.length > longest) return null;
  const near = optional.flatMap((column) => {
    const best = nearest(look, namesOf[column].map(roughLookOf));
    return best && best.far <= 1 ? [column] : [];
  });
  return near[0] ?? null;
}

/** Something that a column can order and that we do not do. */
type Order = 'date' | 'message' | 'stop' | 'repeat';

const orders: readonly [order: Order, key: RegExp][] = [
  [
    'date',
    /^(pay(ment|out|roll)?|value|due|execut(e|ion)|transfer|send|effective|settle(ment)?|schedule|posting|release|process(ing)?|disburse(ment)?)(d|ed)?(date|day|on|at|from|by)$|^schedule(d|dfor)?$|^(not|send|pay|release)(before|after)$|^(payment)?due$|^when$|^date$|^date(of|for|to)?(pay(ment|out)?|transfer|due|release|execution|settlement|value)$/,
  ],
  ['message', /notify|notification|^send(email|sms|mail)$/],
  ['stop', /^(on)?hold$|^(do)?not?pay$|^donotpay$|^dontpay$|^(skip|exclude|stop|stoppayment)$/],
  ['repeat', /^(recurring|recurrence|frequency|repeat|installments?|instalments?)$/],
];

const unheeded: Record<Order, string> = {
  date: 'no date is acted on but pay_on: its rows will be paid at once',
  message: 'nobody is notified: Counterfoil writes to no payee',
  stop: 'it stops nothing: its rows will be paid, whatever the column says',
  repeat: 'each row is paid once',
};

/** Columns that `failed.csv` has beside those of its batch. */
const ours = new Set(['retryof', 'retryevidence', 'retryreason', 'reason']);

/**
 * Returns what people should know about the columns that are carried into the results and not acted on: one warning for
 * each column that orders something, one for all others.
 */
export function columnWarnings(columns: readonly string[]): string[] {
  const isRetry = columns.some((name) => columnKey(name) === 'retryof');
  const carried = columns
    .map((name) => name.trim())
    .filter((name) => name !== '' && knownColumn(name) === null && !(isRetry && ours.has(columnKey(name))));
  const notifies = carried.some((name) => orderOf(name) === 'message');
  const found = carried.map((name) => {
    const isMail = notifies && /^e?-?mail(address)?$/.test(columnKey(name));
    return { name, order: isMail ? ('message' as const) : orderOf(name) };
  });
  const ordering = found.flatMap(({ name, order }) =>
    order === null ? [] : [`column ${name}: ${unheeded[order]}`],
  );
  const plain = found.filter(({ order }) => order === null).map(({ name }) => name);
  return plain.length === 0
    ? ordering
    : [...ordering, `columns kept for the results, and not acted on: ${listed(plain)}`];
}

function orderOf(name: string): Order | null {
  const key = lookOf(name);
  return orders.find(([, pattern]) => pattern.test(key))?.[0] ?? null;
}

const mostNamed = 12;

function listed(names: readonly string[]): string {
  const rest = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
}
