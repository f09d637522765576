import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { textWidth } from '../../../../src/faces/terminal/kit/text-width.ts';

const letters = Array.from({ length: 0x3000 }, (_, at) => String.fromCodePoint(at));

describe('the width of text', () => {
  it('is what string-width says, of every character alone and between others', () => {
    for (const letter of letters) {
      expect([letter, textWidth(letter)]).toEqual([letter, stringWidth(letter)]);
      expect(textWidth(`a${letter}…`)).toBe(stringWidth(`a${letter}…`));
    }
  });

  it('counts what a terminal shows of wide, joined and coloured text', () => {
    expect(textWidth('你好')).toBe(4);
    expect(textWidth('e\u0301')).toBe(1);
    expect(textWidth('\u001b[31mred\u001b[0m')).toBe(3);
    expect(textWidth('')).toBe(0);
  });
});
