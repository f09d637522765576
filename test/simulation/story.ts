import type { Town } from './town.ts';

/** The whole story of one payout: what the ledger has of it, what the service has, and what happened when. */
export function tellStory(town: Town, reference: string): string {
  const { inspector, service, world } = town;
  const of = 'payout_id = (select id from payouts where reference = ?)';
  const tables: [string, string][] = [
    [
      'payout',
      'select id, state, evidence, attempt_count, message, transfer_id from payouts where reference = ?',
    ],
    [
      'attempts',
      `select number, worker_id, began_at, ended_at, outcome, code, message from attempts where ${of}`,
    ],
    [
      'history',
      `select seq, at, event, source, from_state, to_state, detail from history where ${of} order by seq`,
    ],
    [
      'questions',
      `select reason, due_at, asked_at, answered_at, outcome from inquiries where ${of} order by id`,
    ],
    [
      'webhooks',
      `select received_at, applied_at, verdict, said, against, differences from webhooks where ${of} order by id`,
    ],
    ['discrepancies', `select kind, state, expected, actual, note from discrepancies where ${of}`],
  ];
  const ledger = tables.flatMap(([name, sql]) => [
    `${name}:`,
    ...inspector.rows<object>(sql, reference).map((row) => `  ${JSON.stringify(row)}`),
  ]);
  const posts = service.book
    .arrivals(reference)
    .map(
      ({ at, fault, mayBeTaken }) =>
        `  ${new Date(at).toISOString()} ${fault ?? 'as it should be'} ${mayBeTaken}`,
    );
  const entries = service.book
    .entries(reference)
    .map(
      ({ record, moved, shownFrom }) =>
        `  ${JSON.stringify({ ...record, moved, shown: new Date(shownFrom).toISOString() })}`,
    );
  const mentions = new RegExp(`\\b${reference}\\b(?!-)`);
  const events = world.lines.filter((line) => mentions.test(line)).map((line) => `  ${line}`);
  return [
    `the story of ${reference}`,
    ...ledger,
    'POSTs that came:',
    ...posts,
    "the service's book:",
    ...entries,
    'events:',
    ...events,
  ].join('\n');
}
