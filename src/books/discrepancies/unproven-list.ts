import { createHash } from 'node:crypto';
import { counted } from '../../core/domain/counted.ts';
import type { ListStanding } from '../../core/domain/verdict.ts';
import type { UnprovenList } from '../../core/ledger/barriers.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { ListGap, ListingResult } from '../../watching/listing/completeness.ts';
import { notAmongListed } from '../../watching/listing/listings.sql.ts';

type About = {
  run: string;
  listing: ListingResult;
  standing: ListStanding;
  originId: bigint;
  address: string;
};

const adopted = 'the ledger went back in time and was adopted';

/**
 * Returns what a whole list leaves open of an adopted ledger that waits for one (P25). A person who ends the wait
 * sees exactly this (P32). `proven`: it is complete and of the account that paid. Null for a list that says nothing:
 * a short cut, or one of which no page came.
 */
export async function judgeWaitedList(db: Db, about: About): Promise<UnprovenList | 'proven' | null> {
  const { run, listing, standing, originId, address } = about;
  if (listing.complete === true && standing !== 'not_ours') return 'proven';
  if (listing.complete === true) {
    const why = `${adopted}, and the complete list at ${address} shows none of its payouts`;
    return { run, originId, why, advice: { kind: 'list_payer', evidence: digestOf(why) } };
  }
  const { gap, trouble = '' } = listing;
  if (!gap) return null;
  const facts = [trouble, rowsText(gap), aheadText(gap), await missingText(db, run)];
  const open = facts.filter((one) => one !== '').join('. ');
  const why = `${adopted}, and run ${run} did not prove the list complete: ${open}`;
  return {
    run,
    originId,
    why,
    advice: { kind: 'list_unproven', evidence: digestOf(`${address} ${open}`) },
  };
}

const digestOf = (open: string): string => createHash('sha256').update(open).digest('hex').slice(0, 12);

function rowsText({ total, shown }: ListGap): string {
  return `${counted(shown, 'row was', 'rows were')} read, and the first page counted ${total}`;
}

function aheadText({ ahead: { count, first } }: ListGap): string {
  if (count === 0) return '';
  const named = first.map((row) => `transfer ${row.transferId} (${row.reference}) of ${row.createdAt}`);
  return `${counted(count, 'row has', 'rows have')} a time after the service’s own clock: ${listText(named, count)}`;
}

async function missingText(db: Db, run: string): Promise<string> {
  const { count, first } = await notAmongListed(db, run);
  if (count === 0) return 'Every payout that may have been sent is among the rows';
  const be = count === 1 ? 'is' : 'are';
  return `${counted(count, 'payout')} that may have been sent ${be} not among the rows: ${listText(first, count)}`;
}

function listText(first: readonly string[], count: number): string {
  const rest = count - first.length;
  return `${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
