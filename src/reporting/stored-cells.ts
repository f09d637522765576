import { z } from 'zod';

const texts = z.array(z.string());

/** The cells of a row that the ledger keeps as JSON; throws where they are no texts. */
export function storedCells(json: string): string[] {
  const value: unknown = JSON.parse(json);
  // A schema makes an object for every cell, of which a report has millions.
  return isTexts(value) ? value : texts.parse(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
