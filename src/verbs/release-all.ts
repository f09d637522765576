import { z } from 'zod';
import type { ServiceAccount } from '../core/domain/origin.ts';
import { unprovenEvidence, type WaivedListing, waiveListing } from '../core/ledger/barriers.ts';
import { foreignOrigins } from '../core/ledger/origins.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Logger } from '../core/runtime/logger.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { Halt } from '../sending/halt.ts';
import { findHalt, haltMarks, liftHalt } from '../sending/halts.sql.ts';
import { verb } from './verb.ts';

type Parts = { ledger: Ledger; clock: Pick<Clock, 'iso'>; account: ServiceAccount | null; log: Logger };

/**
 * `waived`: what became of the note; null without one. `halt`: why nothing is sent all the same. `evidence`: the digest
 * of what a list still does not prove.
 */
export type ReleaseAllOutcome = {
  kind: 'released_all';
  lifted: Halt | undefined;
  waived: WaivedListing | 'unread' | 'unseen' | null;
  halt: Halt | undefined;
  evidence: string | null;
};

/** Lifts the halt (P11). With a note, ends an adopted ledger's wait for a list that will never come (P32). */
export const releaseAllVerb = verb({
  name: 'release-all',
  can: 'decide',
  touchesMoney: true,
  /**
   * `shown`: the marks of the halts that the person saw: only these are lifted; without it, those that stand now.
   * `evidence`: the digest of what was shown as not proven.
   */
  input: z.strictObject({
    shown: z.array(z.string()).optional(),
    note: z.string().trim().min(1).optional(),
    evidence: z.string().optional(),
  }),
  async run(parts: Parts, { shown, note, evidence }, { name: by }): Promise<ReleaseAllOutcome> {
    const { ledger, clock } = parts;
    const seen = shown ?? (await haltMarks(ledger.db));
    const lifted = await ledger.write((trx) => liftHalt(trx, { at: clock.iso(), seen }));
    const waived = note === undefined ? null : await waive(parts, { by, note, evidence });
    const halt = await findHalt(ledger.db);
    return { kind: 'released_all', lifted, waived, halt, evidence: await unprovenEvidence(ledger.db) };
  },
});

async function waive(
  { ledger, account, clock, log }: Parts,
  { by, note, evidence }: { by: string; note: string; evidence: string | undefined },
) {
  const waived = await ledger.write(async (trx) => {
    const foreign = await foreignOrigins(trx, account);
    return waiveListing(trx, { at: clock.iso(), by, note, evidence, foreign });
  });
  if (typeof waived === 'object')
    log.warn({ by, note }, 'a person ended the wait of an adopted ledger for a complete list');
  return waived;
}
