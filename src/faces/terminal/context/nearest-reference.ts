import type { App } from '../../../app/app.ts';
import { likely } from '../../../core/domain/nearest.ts';
import { referencesBeginning } from '../../../core/ledger/payout-list.ts';
import { didYouMean } from './result.ts';

/** How many letters at its end may be wrong: a slip is looked for among references that begin alike. */
const endings = [1, 2, 4];
const mostCompared = 500;

/** The payout of this ledger whose reference is nearly this one; undefined when none is. */
export async function nearestReference(
  { ledger }: App<'looking'>,
  reference: string,
): Promise<string | undefined> {
  for (const letters of endings) {
    const beginning = reference.slice(0, -letters);
    if (beginning.length < 2) return undefined;
    const known = await referencesBeginning(ledger.db, beginning, mostCompared);
    const meant = likely(reference, known);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/** That nothing in this ledger has the reference, and which one is near; `otherwise` ends the sentence where none is. */
export async function noSuch(
  what: string,
  reference: string,
  app: App<'looking'>,
  otherwise = '',
): Promise<string> {
  const meant = didYouMean(await nearestReference(app, reference), otherwise);
  return `no ${what} "${reference}" in this ledger (mode ${app.config.mode})${meant}`;
}
