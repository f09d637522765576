import { expect, it } from 'vitest';
import { droppedByAlice, makeHome } from '../support/decided.ts';

const head = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name,payee_id';

function month(name: string, account: string, kobo: string): string {
  return [
    head,
    `${name}-1,0123456785,Adaeze Okonkwo,058,100.${kobo},NGN,Salary,Acme,E1`,
    `${name}-2,${account},Musa Bello,044,200.${kobo},NGN,Salary,Acme,E2`,
    '',
  ].join('\n');
}

it('P37: a batch taken in under warn waits for a second person once the rule is approve_changed', async () => {
  const home = await makeHome();
  const rule = { COUNTERFOIL_SUBMISSION_PAYEES: 'approve_changed' };
  await home.json(['submit', home.put('nov.csv', month('N', '2034567891', '10'))], 0);
  await home.json(['submit', home.put('again.csv', month('A', '2034567891', '20')), '--no-wait'], 0);
  const { batches } = await home.json(
    ['submit', home.put('dec.csv', month('D', '9999999990', '30')), '--no-wait'],
    0,
  );
  const [{ batch }] = batches;
  const sent = home.sandbox.requests.posts;
  const { out, code } = await home.run(['submit'], rule);
  expect([code, out]).toEqual([4, expect.stringContaining('1 payee with another account than before')]);
  // The other batch, in which nobody changed, went.
  expect(home.sandbox.requests.posts).toBe(sent + 2);
  expect((await home.run(['status'], rule)).out).toContain('1 payee with another account than before');
  expect((await home.run(['approve', batch, '--yes'], rule)).code).toBe(2);
  await home.run(['release', batch], rule);
  await home.run(['submit'], rule);
  expect(home.sandbox.requests.posts).toBe(sent + 2);

  await droppedByAlice(home);
  const approved = await home.run(['approve', batch], rule);
  expect([approved.code, approved.out]).toEqual([0, expect.stringContaining('may go now')]);
  await home.run(['submit'], rule);
  expect(home.sandbox.requests.posts).toBe(sent + 4);
});
