import { afterEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { totalsOf } from '../support/booked-totals.ts';
import { call, list } from './harness.ts';

const started: Sandbox[] = [];
async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox(options);
  started.push(sandbox);
  return sandbox;
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
});

const recordFields =
  'id trx reference transactionRef sessionid currency amount fee account_name account_number bank_name ' +
  'bank_code narration domain status created_at updated_at';
const liveKeys = { secretKey: 'sk_live_x', publicKey: 'pk_live_x', encryptionKey: 'enc_live_x' };

describe('the transfer lists', () => {
  it('shows every field of the envelope and of the record', async () => {
    const sandbox = await start({ perPage: 2 });
    for (const reference of ['P-1', 'P-2', 'P-3']) sandbox.book.plant({ reference });
    const answer = await list(sandbox, 'fetch_all_transfers?page=2');
    const path = `${sandbox.url}/api/v1/fetch_all_transfers`;
    expect(answer).toMatchObject({ success: true, status: '00' });
    expect(answer.data).toMatchObject({
      current_page: 2,
      first_page_url: `${path}?page=1`,
      from: 3,
      last_page: 2,
      last_page_url: `${path}?page=2`,
      next_page_url: null,
      path,
      per_page: 2,
      prev_page_url: `${path}?page=1`,
      to: 3,
      total: 3,
    });
    expect(answer.data.links.map((link) => link.label)).toEqual([
      '&laquo; Previous',
      '1',
      '2',
      'Next &raquo;',
    ]);
    expect(Object.keys(answer.data.data[0] ?? {}).sort()).toEqual(recordFields.split(' ').sort());
    expect(answer.data.data[0]?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('leaves three fields and five page fields out of the list of one status', async () => {
    const sandbox = await start();
    sandbox.book.plant({ reference: 'P-1' });
    sandbox.book.plant({ reference: 'P-2', status: 'failed' });
    const answer = await list(sandbox, 'fetch_all_transfers/failed');
    expect(Object.keys(answer.data).sort()).toEqual(
      'current_page data first_page_url from last_page per_page to total'.split(' '),
    );
    expect(answer.data.data).toHaveLength(1);
    expect(answer.data.data[0]).toMatchObject({ reference: 'P-2', status: 'failed' });
    for (const field of ['transactionRef', 'sessionid', 'domain']) {
      expect(answer.data.data[0]).not.toHaveProperty(field);
    }
  });

  it('has no from and to on an empty page, and 404 for an unknown status', async () => {
    const sandbox = await start();
    const empty = await list(sandbox, 'fetch_all_transfers');
    expect(empty.data).toMatchObject({ data: [], from: null, to: null, total: 0, last_page: 1 });
    const unknown = await call(sandbox, 'fetch_all_transfers/done');
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ success: false, status: '12' });
  });

  it.each([
    ['newest', ['P-3', 'P-2', 'P-1']],
    ['oldest', ['P-1', 'P-2', 'P-3']],
    ['updated', ['P-1', 'P-3', 'P-2']],
  ] as const)('orders rows by "%s" first', async (listOrder, expected) => {
    const sandbox = await start({ listOrder });
    const planted = ['P-1', 'P-2', 'P-3'].map((reference) => sandbox.book.plant({ reference }));
    sandbox.book.change(planted[0]?.id ?? 0, { narration: 'changed' });
    const answer = await list(sandbox, 'fetch_all_transfers');
    expect(answer.data.data.map((row) => row.reference)).toEqual(expected);
  });

  it('shows each key its own mode only, and takes no encryption key', async () => {
    const sandbox = await start({ keys: { live: liveKeys } });
    sandbox.book.plant({ reference: 'T-1' });
    sandbox.book.plant({ reference: 'L-1', mode: 'live' });
    const live = await list(sandbox, 'fetch_all_transfers', 'sk_live_x');
    expect(live.data.data).toMatchObject([{ reference: 'L-1', domain: 'live' }]);
    expect((await call(sandbox, 'fetch_all_transfers', 'GET', 'enc_live_x')).status).toBe(401);
  });

  it('hides a removed transfer from lists and details, and keeps it in the book', async () => {
    const sandbox = await start();
    const { id } = sandbox.book.plant({ reference: 'P-1' });
    expect((await call(sandbox, 'fetch_transfer_details/P-1')).status).toBe(200);
    sandbox.book.remove(id);
    const details = await call(sandbox, 'fetch_transfer_details/P-1');
    expect(details.status).toBe(404);
    expect(await details.json()).toMatchObject({ success: false, status: '04' });
    expect((await list(sandbox, 'fetch_all_transfers')).data.total).toBe(0);
    expect(sandbox.book.transfers('test')).toHaveLength(1);
  });

  it('adds up the book by currency and status', async () => {
    const sandbox = await start();
    sandbox.book.plant({ amount: '10.50' });
    sandbox.book.plant({ amount: '1.00' });
    sandbox.book.plant({ amount: '7.00', currency: 'ZAR', status: 'failed', returned: true });
    expect(totalsOf(sandbox.book.transfers('test'))).toEqual({
      NGN: { success: { count: 2, minor: 1150n } },
      ZAR: { returned: { count: 1, minor: 700n } },
    });
  });
});
