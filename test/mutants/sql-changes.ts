const words: [RegExp, Record<string, string>][] = [
  [
    /(?<![<>!=|-])(<=|>=|<>|!=|<|>|=)(?![<>=])/g,
    { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '=': '<>', '<>': '=', '!=': '=' },
  ],
  [
    /\b(is not null|is null|not exists|exists|not in|in|and|or|min\(|max\(|desc)(?![\w.])/g,
    {
      'is null': 'is not null',
      'is not null': 'is null',
      'not exists': 'exists',
      exists: 'not exists',
      'not in': 'in',
      in: 'not in',
      and: 'or',
      or: 'and',
      'min(': 'max(',
      'max(': 'min(',
      desc: 'asc',
    },
  ],
  [/(?<= )[+-](?= )/g, { '+': '-', '-': '+' }],
  [/(?<![\w.$'])\d+(?![\w.'])/g, {}],
];

/** The texts of a statement with one operator or number of its SQL changed; what it puts in (`${…}`) stays. */
export function sqlChanges(text: string): string[] {
  // Blanks of the same length stand for what is put in, so that places stay the same.
  let depth = 0;
  const plain = [...text.split('')]
    .map((char, i, all) => {
      if (char === '{' && (all[i - 1] === '$' || depth > 0)) depth += 1;
      const inside = depth > 0;
      if (char === '}' && depth > 0) depth -= 1;
      return inside ? '_' : char;
    })
    .join('');
  return words.flatMap(([pattern, to]) =>
    [...plain.matchAll(pattern)].map(({ 0: word, index }) => {
      const changed = to[word] ?? String(BigInt(word) + 1n);
      return text.slice(0, index) + changed + text.slice(index + word.length);
    }),
  );
}
