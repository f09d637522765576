class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** Markup that is safe to send: only {@link html} and {@link trusted} make it. */
export interface Html extends Markup {}
type Value = Html | string | number | bigint | null | false | readonly Html[];

/** Puts values into markup. A text is escaped, wherever it stands; null and false are nothing. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return new Markup(String.raw({ raw: strings }, ...values.map(markupOf)));
}

/** Markup from code that escapes for itself, such as a drawing. Never text from outside. */
export function trusted(markup: string): Html {
  return new Markup(cleaned(markup));
}

function markupOf(value: Value): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.toString();
  return typeof value === 'object' ? value.join('') : escaped(String(value));
}

/** Text as it stands in markup and in quoted attributes. */
function escaped(text: string): string {
  return cleaned(text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`));
}

/** Without characters that no document may hold, and marks that change the direction of text (a name may hold any). */
function cleaned(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n\r]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, '\ufffd');
}
