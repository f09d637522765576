import { inspect } from 'node:util';
import { legible } from '../../../core/domain/hidden.ts';

/** The colours of the terminal, by what they mean. Colour never says more than the words do. */
export type Colour = keyof typeof codes;

/** Puts a text into a colour. Without colour it returns the text. */
export type Paint = (colour: Colour, text: string) => string;

const codes = {
  good: 'green',
  bad: 'red',
  doubt: 'yellow',
  moving: 'cyan',
  faint: 'dim',
  strong: 'bold',
} as const;

/**
 * Colours that text from outside cannot forge. `paint` writes marks that hold a key; `render` turns exactly these marks
 * into the terminal's colours and makes everything else legible. So no file, service or key press colours a word. `key`:
 * random letters and digits, which the text that is printed cannot know.
 */
export function createInk(key: string) {
  const marks = new RegExp(`\\u0001${key}:(\\d+);`);
  const mark = (code: number): string => `\u0001${key}:${code};`;
  return {
    paint(colour: Colour, text: string): string {
      const [on, off] = inspect.colors[codes[colour]] ?? [0, 0];
      return text === '' ? '' : `${mark(on)}${text}${mark(off)}`;
    },
    /** The text for one stream; without `coloured` the marks are removed. */
    render(text: string, coloured: boolean): string {
      const parts = text.split(marks);
      // Every second part is the code of a mark: the group of the pattern.
      return parts
        .map((part, index) => (index % 2 === 0 ? legible(part) : coloured ? `\u001b[${part}m` : ''))
        .join('');
    },
  };
}

const begin = '\u0001';
const anyMark = new RegExp(`${begin}[0-9a-z:]+;`, 'g');

/** The text without its marks, as wide as it is printed. */
export function unmarked(text: string): string {
  return text.replaceAll(anyMark, '');
}

export const noPaint: Paint = (_colour, text) => text;
