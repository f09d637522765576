import { expect, it } from 'vitest';
import { halt } from '../../../src/sending/halts.sql.ts';
import { addBatch, at, claimAt, recordOutcome } from '../../support/ledger.ts';
import { makeSetting, startMail } from './setting.ts';

const hostile = '<!channel> </b><script>alert(1)</script>\r\nBcc: thief@example.com';

it('tells no account number, name, narration, secret or stranger’s text, whatever the ledger holds', async () => {
  const mail = await startMail();
  const setting = await makeSetting({
    COUNTERFOIL_ALERTS_SMTP_URL: mail.url,
    COUNTERFOIL_ALERTS_SMTP_PASSWORD: 'mail-pass-word',
    COUNTERFOIL_ALERTS_MAIL_TO: '["ops@example.com"]',
    COUNTERFOIL_ALERTS_MAIL_FROM: 'pay@example.com',
    COUNTERFOIL_ALERTS_DASHBOARD_URL: 'https://pay.example.com:8788',
    COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_very-secret-key',
  });
  const { ledger } = setting;
  const bank = {
    account_number: '0987654321',
    account_name: 'CHIDINMA EZE',
    narration: hostile,
    bank_code: '000999',
  };
  await addBatch(ledger, ['PAY-0001'], bank);
  const [claimed] = await claimAt(ledger, at(0), 1);
  if (!claimed) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(0), claimed, {
    ...{ kind: 'unknown', code: null, httpStatus: null, halts: false },
    message: `${hostile} 0987654321 CHIDINMA EZE`,
    raw: 'sk_test_very-secret-key',
  });
  const stranger = {
    kind: 'missing_in_ledger' as const,
    subject: hostile,
    reference: hostile,
    currency: hostile,
  };
  await ledger.db
    .insertInto('discrepancies')
    .values({
      ...stranger,
      id: 'D-0123456789ab',
      payout_id: null,
      batch_id: hostile,
      trx: hostile,
      transfer_id: hostile,
      expected: '000999/0987654321',
      actual: hostile,
      difference: '',
      severity: 'high',
      later_severity: null,
      graver_at: null,
      evidence: `${hostile} CHIDINMA EZE`,
      advice: '{}',
      state: 'open',
      resolved_by: null,
      note: hostile,
      shown_at: null,
      first_seen_at: at(0),
      last_seen_at: at(0),
      last_run_id: 'run',
      resolved_at: null,
    })
    .execute();
  await ledger.write(async (trx) => {
    await halt(
      trx,
      { kind: 'account', code: '27', message: `${hostile} 0987654321`, reference: 'PAY-0001' },
      at(0),
    );
    await trx
      .insertInto('jobs')
      .values({
        host: '',
        place: '',
        job: 'reconcile',
        last_run_at: at(0),
        last_success_at: null,
        last_result: JSON.stringify({ error: `${hostile} 0987654321 sk_test_very-secret-key` }),
        result_kind: 'failed',
        ended_at: at(0),
        expression: '0 2 * * *',
      })
      .execute();
  });
  setting.pass(25 * 3_600_000);
  await setting.turn();
  const [post] = setting.web.posts;
  const [letter] = mail.mails;
  expect(post?.text).toMatch(/^Counterfoil test: 5 alerts/);
  for (const kind of ['Sending is halted', 'unknown past', 'missing_in_ledger', 'reconcile failed'])
    expect(post?.text).toContain(kind);
  expect(post?.text).toContain('PAY-0001');
  expect(post?.text).toContain('D-0123456789ab');
  expect(post?.text).toContain('https://pay.example.com:8788/payouts/PAY-0001');
  expect(letter?.to).toEqual(['ops@example.com']);
  const stored = await ledger.db.selectFrom('alert_messages').select('content').execute();
  const logged = JSON.stringify(setting.warnings);
  const all = [post?.body ?? '', letter?.raw ?? '', ...stored.map(({ content }) => content), logged];
  const secrets = [
    '0987654321',
    'CHIDINMA',
    'EZE',
    '000999',
    'channel',
    'script',
    'thief',
    'very-secret',
    'pass-word',
  ];
  for (const text of all) for (const word of secrets) expect(text).not.toContain(word);
});
