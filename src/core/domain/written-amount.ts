import { exponentOf, parseAmount } from './money.ts';
import { plainNumbers } from './save-as.ts';

/** What is wrong with a cell, and how to correct it; null for a good one. */
export type AmountProblem = { problem: string; fix: string } | null;

/** The problem with an amount as people and spreadsheets write it; null for a valid plain decimal. */
export function amountFinding(value: string, currency: string): AmountProblem {
  const parsed = parseAmount(value, currency);
  if (parsed.kind === 'ok') return null;
  const digits = exponentOf(currency) ?? 2;
  const [, whole, rest] = /^(\d{1,3})\.(\d{3})$/.exec(value) ?? [];
  if (whole !== undefined && digits < 3) {
    const fix = `write ${whole}${rest} if the point separates thousands, else round it yourself`;
    return { problem: parsed.problem, fix };
  }
  return separatorsIn(value, digits) ?? { problem: parsed.problem, fix: parsed.fix };
}

/**
 * Judges amounts with thousands separators or a decimal comma. It proposes a value only where one reading is possible,
 * and never uses it: `1,000` is a thousand naira, but in dinars, with three digits, it may be one.
 */
function separatorsIn(value: string, digits: number): AmountProblem {
  const blanks = /^\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?$/.test(value);
  const text = blanks ? value.replace(/[\s'’]/g, '') : value;
  const [, whole, rest] = /^(\d{1,3}),(\d{3})$/.exec(text) ?? [];
  if (whole !== undefined && digits === 3) {
    const fix = `write ${whole}${rest} or ${whole}.${rest}, whichever is meant; ${plainNumbers}`;
    return { problem: 'has a comma that may separate thousands or decimals', fix };
  }
  const guess = reading(text);
  if (!guess && !blanks) return null;
  const { plain, problem } = guess ?? { plain: text, problem: 'has separators of thousands' };
  const fix = (plain.split('.')[1] ?? '').length <= digits ? `write ${plain}` : 'write it with a point';
  return { problem: blanks ? 'has separators of thousands' : problem, fix: `${fix}; ${plainNumbers}` };
}

function reading(text: string): { plain: string; problem: string } | null {
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text))
    return { plain: text.replaceAll(',', ''), problem: 'has thousands separators' };
  if (/^\d{1,3}(\.\d{3})+,\d+$/.test(text)) {
    const plain = text.replaceAll('.', '').replace(',', '.');
    return { plain, problem: 'has points between thousands and a decimal comma' };
  }
  if (/^\d{1,3}(\.\d{3}){2,}$/.test(text))
    return { plain: text.replaceAll('.', ''), problem: 'has points between thousands' };
  if (/^\d+,\d+$/.test(text)) return { plain: text.replace(',', '.'), problem: 'has a decimal comma' };
  return null;
}
