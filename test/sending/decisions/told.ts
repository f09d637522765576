import { createHash } from 'node:crypto';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import type { LookUpReply, ServiceTrouble } from '../../../src/core/service/types.ts';
import { createDecisions } from '../../../src/sending/decisions/decisions.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { rowFaultText } from '../../../src/words/row-fault-words.ts';
import { addBatch, at, claimAt, recordOutcome, type replies, type TestLedger } from '../../support/ledger.ts';
import { lookUpsOf } from '../../watching/lookups/setting.ts';

export const hour = 3_600_000;

const money = {
  reference: 'F',
  amount: '1500.00',
  currency: 'NGN',
  account_number: '0123456789',
  bank_code: '000013',
  domain: 'test',
};

/** The one transfer of the payout F as details show it; `other`: what they show otherwise. */
export const shown = (status: string, other: object = {}) => ({
  id: 'T-1',
  ...money,
  created_at: at(50),
  status,
  ...other,
});

/** What the service tells about the payout F of the test ledger under way, at times after its birth, and what follows. */
export function createTold(ledger: () => TestLedger) {
  const clockAt = (ms: number) => ({ ...systemClock(), now: () => Date.parse(at(ms)), iso: () => at(ms) });

  function decisionsAt(ms: number) {
    const rules = { referencePrefix: '', payoutLimit: {} };
    return createDecisions({ ledger: ledger(), clock: clockAt(ms), rules, say: rowFaultText });
  }

  function asked(id: bigint, ms: number, answer: LookUpReply | ServiceTrouble, after?: Promise<void>) {
    const service = {
      fetchTransferDetails: async () => {
        await after;
        return answer;
      },
    };
    return lookUpsOf(ledger(), clockAt(ms), service).askNow([id]);
  }

  function replied(id: bigint, ms: number, json: object, after?: Promise<void>) {
    const date = Date.parse(at(ms));
    return asked(id, ms, { kind: 'reply', httpStatus: 200, json, raw: JSON.stringify(json), date }, after);
  }

  async function orderAgain(id: bigint, ms: number) {
    const decisions = decisionsAt(ms + 5);
    const { digest } = await decisions.weigh([id], at(ms));
    return decisions.retry({ ids: [id], since: at(ms), digest, person: 'ada' });
  }

  return {
    decisionsAt,
    /** Takes F in, sends it, and hears this. */
    async sent(outcome: ReturnType<(typeof replies)['refused']>): Promise<bigint> {
      const [id = 0n] = await addBatch(ledger(), ['F']);
      const [claimed] = await claimAt(ledger(), at(0));
      if (claimed) await recordOutcome(ledger(), at(100), claimed, outcome);
      return id;
    },
    /** A details look-up, asked and answered then, that shows these transfers. */
    looked: (id: bigint, ms: number, ...data: object[]) =>
      replied(id, ms, { success: true, status: '00', data: data.length === 1 ? data[0] : data }),
    /** The same of one transfer, by a process whose clock says `ms`; the answer comes only then. */
    lookedLate: (id: bigint, ms: number, then: Promise<void>, data: object) =>
      replied(id, ms, { success: true, status: '00', data }, then),
    lookedInVain: (id: bigint, ms: number) =>
      replied(id, ms, { success: false, status: '04', message: 'no' }),
    unanswered: (id: bigint, ms: number) =>
      asked(id, ms, {
        kind: 'trouble',
        reason: 'timeout',
        message: 'no answer',
        httpStatus: null,
        retryAfterMs: null,
      }),
    /** An authentic webhook about F, received and applied then. */
    async heard(ms: number, status: string, other: object = {}, stale = false): Promise<void> {
      const told = { event: 'payout', ...money, trx: 'X', statusMessage: status, ...other };
      const body = Buffer.from(JSON.stringify({ ...told, timestamp: at(ms) }));
      const digest = createHash('sha256').update(body).digest('hex');
      const rest = { kind: 'payout', reference: told.reference, trx: 'X' } as const;
      const delivery = { digest, receivedAt: at(ms), body, headers: '{}', stale, ...rest };
      await ledger().write((trx) => storeDeliveries(trx, [delivery]));
      await applyWebhooks({ ledger: ledger(), clock: clockAt(ms) });
    },
    /** What `retry` would say of it, its look-up being begun an hour before. */
    judged: async (id: bigint, ms: number) =>
      (await decisionsAt(ms).weigh([id], at(ms - hour))).cases[0]?.judgement,
    /** Orders it to be sent again on the evidence as it is, a look-up begun then counting as fresh. */
    orderAgain,
    /** The references that a sender would send next. */
    claimed: async (ms: number): Promise<string[]> =>
      (await claimAt(ledger(), at(ms), 5)).map(({ reference }) => reference),
  };
}
