/** One bank of the service's own list. */
export type Bank = { code: string; name: string };

/** The service's own bank codes, from `intake.banks_file`. */
export type Banks = {
  has(code: string): boolean;
  nameOf(code: string): string | undefined;
  /** The bank that a code of another list means, as far as the list or the usual codes tell; undefined where neither does. */
  meant(code: string): Bank | undefined;
};

/** Nigerian banks' codes of three digits, and of six for the same bank: for a proposal only, which a person decides. */
const sixDigitsOf: ReadonlyMap<string, string> = new Map([
  ['011', '000016'],
  ['023', '000009'],
  ['030', '000020'],
  ['032', '000018'],
  ['033', '000004'],
  ['035', '000017'],
  ['044', '000014'],
  ['050', '000010'],
  ['057', '000015'],
  ['058', '000013'],
  ['068', '000021'],
  ['070', '000007'],
  ['076', '000008'],
  ['082', '000002'],
  ['214', '000003'],
  ['215', '000011'],
  ['221', '000012'],
  ['232', '000001'],
  ['301', '000006'],
]);

const threeDigitsOf = new Map([...sixDigitsOf].map(([three, six]) => [six, three]));

/** Builds the list. Two banks must not share a code or an alias; the caller checks that. */
export function createBanks(list: readonly (Bank & { aliases: readonly string[] })[]): Banks {
  const byCode = new Map(list.map(({ code, name }) => [code, { code, name }]));
  const byAlias = new Map(list.flatMap((bank) => bank.aliases.map((alias) => [alias, bank.code] as const)));
  const spellings = (code: string): string[] => [code, code.padStart(3, '0'), code.padStart(6, '0')];
  return {
    has: (code) => byCode.has(code),
    nameOf: (code) => byCode.get(code)?.name,
    meant(code) {
      for (const one of spellings(code)) {
        const bank =
          byCode.get(byAlias.get(one) ?? '') ??
          byCode.get(sixDigitsOf.get(one) ?? '') ??
          byCode.get(threeDigitsOf.get(one) ?? '') ??
          byCode.get(one);
        if (bank) return bank;
      }
      return undefined;
    },
  };
}
