type Random = (below: number) => number;

/** So many bytes an input has at most, unless one to begin with has more. */
const longest = 20_000;

/** What breaks readers of text, whatever its format. */
const nasty = [
  ...['', '\0', '\r', '\n', '\r\n', '\t', '\ufeff', '\u202e', '\u200b', '\ud83d\ude00', '٣', 'é', '\x1a'],
  ...[
    '"',
    "'",
    '`',
    '\\',
    '\\u0000',
    '\\ud800',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    ';',
    '=',
    '#',
    '&',
    '<',
    '>',
    '%00',
  ],
  ...[
    '0',
    '-1',
    '-0',
    '1e9',
    '1e400',
    '0.005',
    '9007199254740993',
    '99999999999999999999',
    'NaN',
    '1,000.50',
  ],
  ...['null', 'true', 'false', '""', '[]', '{}', '__proto__', 'constructor', 'toString', '../../x'],
  ...[
    '['.repeat(3000),
    '{"a":'.repeat(1500),
    'x'.repeat(3000),
    '9'.repeat(60),
    ' '.repeat(2000),
    ','.repeat(500),
  ],
];

/** Returns a function that changes one of these inputs in one to four places, or joins two of them. */
export function changer(random: Random, words: readonly string[]): (from: readonly Buffer[]) => Buffer {
  const tokens = [...nasty, ...words, ...words].map((word) => Buffer.from(word));
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  /** Every other one is one of the newest. */
  const one = (from: readonly Buffer[]): Buffer =>
    pick(random(2) === 0 ? from.slice(-20) : from) ?? Buffer.alloc(0);
  return (from) => {
    let input = one(from);
    const most = Math.max(longest, input.length);
    for (let left = 1 + random(4); left > 0; left--) {
      const at = random(input.length + 1);
      const more =
        random(4) === 0 ? random(input.length - at + 1) : random(Math.min(9, input.length - at + 1));
      input = Buffer.concat([input.subarray(0, at), piece(input, at, more), input.subarray(at + more)]);
    }
    return input.subarray(0, most);

    /** What stands at `at` instead of so many bytes. */
    function piece(input: Buffer, at: number, more: number): Buffer {
      const before = input.subarray(at, at + more);
      const token = pick(tokens) ?? before;
      switch (random(8)) {
        case 0:
          return Buffer.alloc(0);
        case 1:
          return Buffer.from(before.map((byte, i) => (i === 0 ? byte ^ (1 << random(8)) : byte)));
        case 2:
          return Buffer.concat([before, before]);
        case 3:
          return Buffer.concat([Buffer.from([random(256)]), before]);
        case 4:
          return part(one(from));
        case 5:
          return token;
        default:
          return Buffer.concat([token, before]);
      }
    }
    function part(other: Buffer): Buffer {
      const begin = random(other.length + 1);
      return other.subarray(begin, begin + random(other.length - begin + 1));
    }
  };
}
