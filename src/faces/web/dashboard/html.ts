import { raw, html as template } from 'hono/html';
import { legible } from '../../../core/domain/hidden.ts';

/** Markup that is safe to send: only {@link html} and {@link trusted} make it. */
export type Html = ReturnType<typeof raw>;
type Value = Html | string | number | bigint | null | false | readonly Html[];

/** Puts values into markup. A text is escaped, and loses characters that hide something or change its direction. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  const made = template(strings, ...values.map(plain));
  if (made instanceof Promise) throw new Error('a template was given a promise');
  return made;
}

/** Markup from code of this project that escapes for itself. Never text from outside. */
export function trusted(markup: string): Html {
  return raw(markup);
}

function plain(value: Value): unknown {
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'string' ? legible(value) : value;
}
