import { expect, it } from 'vitest';
import { csv, row } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';
import { startMail, startWeb } from './setting.ts';

async function homeWithAlerts() {
  const web = await startWeb();
  const mail = await startMail();
  const home = await makeHome(
    {},
    {
      COUNTERFOIL_ALERTS_WEBHOOK_URL: web.url,
      COUNTERFOIL_ALERTS_SMTP_URL: mail.url,
      COUNTERFOIL_ALERTS_SMTP_PASSWORD: 'mail-pass-word',
      COUNTERFOIL_ALERTS_MAIL_TO: '["ops@example.com"]',
      COUNTERFOIL_ALERTS_MAIL_FROM: 'pay@example.com',
    },
  );
  return { home, web, mail };
}

it('doctor --alert sends a test message through each channel, and says how each answered', async () => {
  const { home, web, mail } = await homeWithAlerts();
  const well = await home.run(['doctor', '--offline', '--alert']);
  expect(well.out).toMatch(/ok {5}test webhook +the test message was accepted/);
  expect(well.out).toMatch(/ok {5}test mail +the test message was accepted/);
  expect(web.posts[0]?.text).toContain('Counterfoil test: test message');
  expect(mail.mails[0]?.raw).toContain('Nothing is wrong.');
  web.answers.push({ status: 404 });
  mail.refuse.push(550);
  const wrong = await home.run(['doctor', '--offline', '--alert']);
  expect(wrong.code).toBe(1);
  expect(wrong.out).toContain('the test message was not accepted (http_404)');
  expect(wrong.out).toContain('the test message was not accepted (smtp_550)');
  expect(wrong.out + wrong.err).not.toContain('s3cretPath');
  expect(wrong.out + wrong.err).not.toContain('mail-pass-word');
});

it('doctor sends nothing without --alert, and fails --alert where no channel is set', async () => {
  const { home, web } = await homeWithAlerts();
  await home.run(['doctor', '--offline']);
  expect(web.posts).toEqual([]);
  const bare = await makeHome();
  expect((await bare.run(['doctor', '--offline', '--alert'])).out).toContain('FAILED test alert');
});

it('status and doctor say what could not be sent', async () => {
  const { home, web } = await homeWithAlerts();
  web.answers.push({ status: 403 }, { status: 403 });
  await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0);
  expect(web.posts).toEqual([]);
  expect((await home.run(['hold', '--mode'])).code).toBe(0);
  await home.json(['submit', home.put('more.csv', csv(row(2)))], 4);
  const status = await home.run(['status']);
  expect(status.out).toContain('webhook: 1 message waits to be sent again (last failure: http_403)');
  expect((await home.run(['doctor', '--offline'])).out).toMatch(/FAILED alerts +webhook: 1 message waits/);
  const json = await home.json(['status'], 4);
  expect(json.alerts).toEqual({
    channels: ['webhook', 'mail'],
    outbox: [{ channel: 'webhook', waiting: 1, failing: 1, gave_up: 0, problem: 'http_403' }],
  });
});

it('config show hides the path of the addresses and the password', async () => {
  const { home } = await homeWithAlerts();
  const { out } = await home.run(['config', 'show']);
  expect(out).toContain('COUNTERFOIL_ALERTS_SMTP_PASSWORD');
  expect(out).not.toContain('s3cretPath');
  expect(out).not.toContain('mail-pass-word');
});
