import { z } from 'zod';

const texts = z.array(z.string());

/** The cells of a row that the ledger keeps as JSON; throws where they are no texts. */
export function storedCells(json: string): string[] {
  return texts.parse(JSON.parse(json));
}
