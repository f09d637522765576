import { formatMinor } from '../domain/money.ts';
import { payoutStory, type Story } from '../ledger/overview.ts';
import { type Context, withLocal } from './context.ts';
import { bigintAsNumber } from './discrepancies.ts';
import { type Result, Stop } from './result.ts';

/** `show REFERENCE`: the whole story of one payout, each fact with its source and time. */
export async function show(context: Context, args: string[]): Promise<Result> {
  return withLocal(context, async (app) => {
    const reference = args[0] ?? '';
    const story = await payoutStory(app.ledger.db, app.config.mode, reference);
    if (!story) throw new Stop(2, `no payout "${reference}" in this ledger (mode ${app.config.mode})`);
    return { code: 0, lines: tell(story), json: plain(story) };
  });
}

function tell({ payout, attempts, webhooks, lookups, discrepancies, history }: Story): string[] {
  const { reference, currency, amount, account_name, account_number, bank_code, batch_id, row_number } =
    payout;
  const lines = [
    `${reference}  ${currency} ${formatMinor(amount, currency)}  to ${account_name}, ${account_number} at ${bank_code}`,
    `state     ${payout.state}${payout.evidence ? `  (evidence: ${payout.evidence})` : ''}${payout.message ? `  ${payout.message}` : ''}`,
    `batch     ${batch_id}, row ${row_number}`,
    `transfer  ${payout.transfer_id ?? '-'}   trx ${payout.trx ?? '-'}   fee ${payout.fee ?? '-'}`,
  ];
  if (payout.state === 'unknown') {
    lines.push('We cannot tell whether this was paid. Do not pay it another way; counterfoil keeps asking.');
  }
  lines.push('', 'history');
  for (const h of history)
    lines.push(`  ${h.at}  ${h.event.padEnd(24)} ${h.from_state ?? ''} → ${h.to_state}  [${h.source}]`);
  if (attempts.length > 0) lines.push('', 'attempts');
  for (const a of attempts)
    lines.push(
      `  ${a.began_at}  #${a.number} ${a.outcome ?? 'under way'}  ${a.code ?? ''} ${a.message ?? ''}`.trimEnd(),
    );
  if (webhooks.length > 0) lines.push('', 'webhooks');
  for (const w of webhooks)
    lines.push(`  ${w.received_at}  heard ${w.deliveries} time(s): ${w.effect ?? 'not applied yet'}`);
  if (lookups.length > 0) lines.push('', 'questions');
  for (const q of lookups)
    lines.push(`  ${q.asked_at ?? q.due_at}  ${q.kind} (${q.reason}): ${q.outcome ?? 'due'}`);
  if (discrepancies.length > 0) lines.push('', 'discrepancies');
  for (const d of discrepancies)
    lines.push(
      `  ${d.first_seen_at}  ${d.id} ${d.kind} ${d.state}: expected ${d.expected}, found ${d.actual}`,
    );
  return lines;
}

function plain(story: Story): Record<string, unknown> {
  const { currency, amount } = story.payout;
  const webhooks = story.webhooks.map((w) => ({ ...w, body: Buffer.from(w.body).toString('utf8') }));
  const shown = { ...story, webhooks, payout: { ...story.payout, amount: formatMinor(amount, currency) } };
  return JSON.parse(JSON.stringify(shown, bigintAsNumber));
}
