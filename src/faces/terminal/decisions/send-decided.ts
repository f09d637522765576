import * as submitJob from '../../../../jobs/submit.ts';
import type { App } from '../../../app/app.ts';
import { sendable } from '../../../sending/claims.sql.ts';
import { reasonText, submitCommand } from '../../../words/advice-text.ts';
import { haltInWords } from '../../../words/halt-words.ts';
import { Stop } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { haltText } from '../kit/describe.ts';
import { terminalOf } from '../kit/terminal.ts';
import { waitingText } from '../status/waiting.ts';

/** The result of sending: `waits` says why nothing was sent, `failed` what stopped it half-way. */
export type SentDecided = { kind: 'sent' } | { kind: 'waits'; why: string } | { kind: 'failed'; why: string };

/** Sends only these payouts, as `submit` sends a batch: halts and holds apply, and one list page is read first. */
export async function sendDecided(
  context: Context,
  app: App,
  payouts: readonly bigint[],
): Promise<SentDecided> {
  const { mode } = app.config;
  const terminal = terminalOf(context, app.config, app.clock.iso());
  const halted = await haltInWords(app.ledger.db);
  if (halted) return { kind: 'waits', why: `sending is halted ${haltText(halted, terminal)}` };
  const left = await sendable(app.ledger.db, { payouts, ...app.brakes.under() });
  if (left.ready === 0) {
    const waits = await app.brakes.waits({ payouts });
    return waits.length === 0
      ? { kind: 'sent' }
      : {
          kind: 'waits',
          why: waits.map((one) => waitingText(one, app.config, terminal)).join('; '),
        };
  }
  const cleared = await app.preflight(context.signal);
  if (cleared.kind === 'problem')
    throw new Stop(`${cleared.problem}. The decision is recorded: ${submitCommand(mode)} sends it`, 1);
  const sent = await submitJob.run(app, { scope: { payouts }, signal: context.signal });
  switch (sent.ended) {
    case 'drained':
    case 'interrupted':
      return { kind: 'sent' };
    case 'halted': {
      const halt = await haltInWords(app.ledger.db);
      return { kind: 'waits', why: halt ? `sending was halted ${haltText(halt, terminal)}` : sent.detail };
    }
    case 'unreachable':
    case 'stuck':
      return {
        kind: 'failed',
        why: `${reasonText({ why: sent.detail, advice: sent.advice ?? null })}; what is left stays ready: ${submitCommand(mode)} sends it`,
      };
  }
}
