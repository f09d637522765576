import { describe, expect, it } from 'vitest';
import {
  couldBeOurs,
  type ExpectedTransfer,
  findWitness,
  firstIntentOf,
  isBeneficiary,
  isNotFound,
  readInstant,
} from '../../../src/core/domain/witness.ts';
import { parseLossless } from '../../../src/core/service/json.ts';

const ours: ExpectedTransfer = {
  reference: 'ACME-1',
  referenceKey: 'acme-1',
  transferId: null,
  trx: 'TRX9',
  amount: 150_000n,
  currency: 'NGN',
  accountNumber: '0123456789',
  bankCode: '058',
  mode: 'test',
  firstIntentAt: '2026-11-21T12:00:00.000Z',
  accepted: false,
};
const told = {
  reference: 'ACME-1',
  status: 'success',
  amount: '1500.0',
  currency: 'NGN',
  account_number: '0123456789',
};
const details = (data: unknown) => findWitness({ success: true, status: '00', data }, ours, 'details');

describe('P13: a witness is one object with our reference and a status', () => {
  it('finds it however deep it lies, and reads ids as text', () => {
    const finding = details({
      transfer: [{ ...told, id: '90071992547409931', updated_at: '2026-11-21T12:01:00.123456Z' }],
    });
    expect(finding).toMatchObject({
      kind: 'witness',
      witness: { status: 'success', transferId: '90071992547409931', settledAt: '2026-11-21T12:01:00.123Z' },
    });
  });

  it('believes no field of the envelope', () => {
    expect(
      findWitness({ success: false, status: 'failed', reference: 'ACME-1', message: 'no' }, ours, 'details')
        .kind,
    ).toBe('none');
    expect(findWitness({ status: 'failed', reference: 'ACME-1', message: 'no' }, ours, 'details').kind).toBe(
      'none',
    );
    for (const more of [{ data: {} }, { data: [] }, { success: true, amount: '1500.0' }])
      expect(findWitness({ status: 'failed', reference: 'ACME-1', ...more }, ours, 'details').kind).toBe(
        'none',
      );
  });

  it('does not join a reference here with a status there', () => {
    expect(details({ reference: 'ACME-1', inner: { status: 'success' } }).kind).toBe('none');
  });

  it('reads statusMessage of a payout webhook, not its code', () => {
    const body = { ...told, event: 'payout', status: '00', statusMessage: 'failed', domain: 'test' };
    expect(findWitness(body, ours, 'webhook')).toMatchObject({
      kind: 'witness',
      witness: { status: 'failed' },
    });
  });

  it('takes a known trx for the reference, and 96, reversed or refunded for returned', () => {
    for (const status of ['96', 'reversed', 'Refunded']) {
      const finding = details({ ...told, reference: 'SERVICE-OWN', trx: 'TRX9', status });
      expect(finding).toMatchObject({ kind: 'witness', witness: { status: 'returned' } });
    }
  });

  it('believes no failure of the transfer that we know while another under our reference stands (P17)', () => {
    const known = { ...ours, transferId: '481' };
    const both = (other: object) =>
      findWitness(
        {
          success: true,
          status: '00',
          data: [
            { ...told, id: '481', status: 'failed' },
            { ...told, id: '482', ...other },
          ],
        },
        known,
        'details',
      );
    expect(both({ status: 'success' })).toMatchObject({
      kind: 'conflict',
      fields: [{ field: 'status', actual: 'failed and success' }],
    });
    expect(both({ status: 'pending', amount: '1600.00' })).toMatchObject({
      kind: 'conflict',
      fields: [{ field: 'amount' }],
    });
    expect(both({ status: 'failed' })).toMatchObject({ kind: 'witness', witness: { status: 'failed' } });
  });

  it('takes the object that agrees, or bears our transfer id, before others under our reference', () => {
    expect(
      details([
        { ...told, amount: '1.00' },
        { ...told, trx: 'X' },
      ]),
    ).toMatchObject({
      kind: 'witness',
      witness: { trx: 'X' },
    });
    const known = { ...ours, transferId: '481' };
    const two = {
      data: [
        { ...told, trx: 'X', amount: '1.00' },
        { ...told, transfer_id: '481' },
      ],
    };
    expect(findWitness(two, known, 'details')).toMatchObject({ witness: { transferId: '481' } });
    for (const id of [{ id: '481' }, { transfer_id: '481' }]) {
      const data = [
        { ...told, status: 'pending' },
        { ...told, ...id },
      ];
      expect(findWitness({ data }, known, 'details')).toMatchObject({ witness: { status: 'success' } });
    }
    const kindOf = (data: object) => findWitness({ data }, known, 'details').kind;
    expect(kindOf({ transfer_id: '9', status: 'failed' })).toBe('none');
    expect(kindOf({ id: '481', reference: '', status: 'failed' })).toBe('witness');
    expect(kindOf({ ...told, message: 'paid' })).toBe('witness');
  });

  it('calls an object with two statuses a conflict, and shows what differs with the status it names', () => {
    expect(details({ ...told, status: 'success', state: 'failed' })).toEqual({
      kind: 'conflict',
      fields: [{ field: 'status', expected: 'one status', actual: 'contradictory' }],
      status: 'pending',
    });
    expect(details({ ...told, status: 'success', state: 'returned' })).toMatchObject({
      witness: { status: 'returned' },
    });
    expect(details({ ...told, amount: '1.00' })).toMatchObject({ kind: 'conflict', status: 'success' });
    const paid = { ...told, amount: '1.00' };
    expect(details([{ ...told, status: 'failed' }, paid])).toMatchObject({ status: 'success' });
    expect(
      details([
        { ...told, status: 'failed' },
        { ...paid, state: 'failed' },
      ]),
    ).toMatchObject({
      status: 'pending',
    });
  });

  it('finds nothing where there is no object, and what eight levels hold', () => {
    for (const json of [null, 'text', [], 7, { id: null }])
      expect(findWitness(json, ours, 'details').kind).toBe('none');
    const inside = (levels: number): unknown => (levels === 1 ? told : [inside(levels - 1)]);
    expect(findWitness(inside(8), ours, 'details').kind).toBe('witness');
    expect(findWitness(inside(9), ours, 'details').kind).toBe('none');
    const behind = (others: number) => [...Array.from({ length: others }, () => ({})), told];
    expect(findWitness(behind(4999), ours, 'details').kind).toBe('witness');
    expect(findWitness(behind(5000), ours, 'details').kind).toBe('none');
  });

  it('reads every id as text, an empty one as none, and the time only of what has ended', () => {
    const read = (more: object) => {
      const finding = details({ ...told, ...more });
      return finding.kind === 'witness' ? finding.witness : null;
    };
    expect(read({ id: 7, trx: '', fee: 1.5 })).toMatchObject({ transferId: '7', trx: null, fee: '1.5' });
    expect(read({ id: 90071992547409931n })).toMatchObject({ transferId: '90071992547409931' });
    expect(read({ id: Number.NaN, fee: {} })).toMatchObject({ transferId: null, fee: null });
    const updated_at = '2026-11-21T12:01:00Z';
    expect(read({ status: 'pending', updated_at })?.settledAt).toBeNull();
    expect(read({ updated_at: 'yesterday' })?.settledAt).toBeNull();
    expect(read({ updated_at })?.settledAt).toBe('2026-11-21T12:01:00.000Z');
  });

  it('calls two objects that disagree a conflict', () => {
    expect(details([told, { ...told, status: 'failed' }])).toMatchObject({
      kind: 'conflict',
      fields: [{ field: 'status' }],
    });
  });
});

describe('P13: failed and returned are believed only as the transfer’s own word', () => {
  const denied = (data: unknown) =>
    findWitness({ success: false, status: '05', message: 'not found', data }, ours, 'details').kind;
  it.each(['failed', 'returned'])(
    'no %s from a reply that did not succeed: it may echo the request',
    (status) => {
      expect(denied({ reference: 'ACME-1', status })).toBe('none');
      expect(denied({ ...told, status })).toBe('none');
    },
  );

  it('and a success of such a reply is a conflict: it neither proves a payment nor lets another one go', () => {
    expect(denied({ data: 1, ...told })).toBe('conflict');
    expect(denied([told, { ...told, status: 'failed' }])).toBe('conflict');
    expect(denied({ ...told, status: 'pending' })).toBe('witness');
  });

  it('P17: not while another object under our reference, whatever else it shows, still stands', () => {
    const pending = { ...told, amount: '1500.01', status: 'pending' };
    expect(details([{ ...told, status: 'failed' }, pending])).toMatchObject({
      kind: 'conflict',
      status: 'pending',
      fields: [{ field: 'amount', actual: '1500.01' }],
    });
  });

  it('names the two statuses of objects that are both ours, in either order', () => {
    for (const statuses of [
      ['failed', 'pending'],
      ['pending', 'failed'],
    ])
      expect(details(statuses.map((status) => ({ ...told, status })))).toMatchObject({
        kind: 'conflict',
        fields: [{ field: 'status', actual: statuses.join(' and ') }],
      });
  });
});

describe('P15: presence proves only our own', () => {
  it.each([
    ['amount', '1500.01'],
    ['currency', 'ZAR'],
    ['account_number', '0123456780'],
    ['bank_code', '059'],
    ['domain', 'live'],
    ['created_at', '2026-11-21T11:54:59Z'],
  ])('another %s is a conflict, never a witness', (field, actual) => {
    expect(details({ ...told, [field]: actual })).toMatchObject({
      kind: 'conflict',
      fields: [{ field, actual }],
    });
  });

  it('an account written as a JSON number, without the zeros in front, is still ours', () => {
    const text = JSON.stringify({ success: true, status: '00', data: told });
    const json = parseLossless(text.replace('"0123456789"', '123456789'));
    expect(findWitness(json, ours, 'details')).toMatchObject({ witness: { status: 'success' } });
    expect(details({ ...told, account_number: '00123456789' }).kind, 'no other zeros').toBe('conflict');
  });

  it('a bare id that equals our transfer id is none of ours where the object names another reference', () => {
    const known = { ...ours, transferId: '481' };
    const json = (data: unknown) => ({ success: true, status: '00', data });
    const customer = { id: 481, reference: 'CUSTOMER-7', status: 'failed' };
    expect(findWitness(json(customer), known, 'details').kind).toBe('none');
    expect(findWitness(json({ ...told, customer }), known, 'details')).toMatchObject({
      witness: { status: 'success' },
    });
    expect(findWitness(json({ id: 481, status: 'failed' }), known, 'details').kind).toBe('witness');
  });

  it('an account without zeros in front is ours only as it is; an empty field of a row says nothing', () => {
    const listed = (account_number: string, bank_code: string, accountNumber = '0123456789') =>
      isBeneficiary({ account_number, bank_code }, { accountNumber, bankCode: '058' });
    expect([listed('0123456789', '058'), listed('', ''), listed('123456789', '058')]).toEqual([
      ...[true, true, true],
    ]);
    expect([listed('1', '058'), listed('0123456789', '1'), listed('', '1')]).toEqual([false, false, false]);
    expect(listed('123', '', '0123')).toBe(true);
    expect(listed('0123', '', '123')).toBe(false);
  });

  it('P33: a clock of ours that was ahead moves the first intent back, one behind does not', () => {
    const at = '2026-11-21T12:00:00.000Z';
    expect(firstIntentOf(at, 1000n)).toBe('2026-11-21T11:59:59.000Z');
    expect(firstIntentOf(at, 1n)).toBe('2026-11-21T11:59:59.999Z');
    expect([firstIntentOf(at, null), firstIntentOf(at, 0n), firstIntentOf(at, -5n)]).toEqual([at, at, at]);
    expect(firstIntentOf(null, 1000n)).toBeNull();
  });

  it('a transfer without a time, or of a payout without an intent, could be ours', () => {
    expect(couldBeOurs(null, ours)).toBe(true);
    expect(couldBeOurs('yesterday', ours)).toBe(true);
    expect(couldBeOurs('2026-11-21T11:00:00Z', { ...ours, firstIntentAt: null })).toBe(true);
    expect(couldBeOurs('2026-11-21T11:55:00Z', ours)).toBe(true);
  });

  it('allows the service a clock five minutes behind', () => {
    expect(couldBeOurs('2026-11-21T11:55:00.000Z', ours)).toBe(true);
    expect(couldBeOurs('2026-11-21T11:54:59.999Z', ours)).toBe(false);
  });

  it('P33: an answered acceptance outweighs a clock that was ahead, and times without a zone', () => {
    for (const created_at of ['2026-11-21T11:50:00Z', '2026-11-21T12:00:03'])
      for (const status of ['failed', 'success']) {
        const json = { success: true, status: '00', data: { ...told, status, created_at } };
        expect(findWitness(json, ours, 'details').kind, 'nobody answered that it was taken').toBe('conflict');
        expect(findWitness(json, { ...ours, accepted: true }, 'details')).toMatchObject({
          witness: { status },
        });
      }
  });
});

it('P16: only the envelope of the service says not found', () => {
  expect(isNotFound({ success: false, status: '04' }, 404)).toBe(true);
  expect(isNotFound({ success: false, status: '99' }, 404)).toBe(false);
  expect(isNotFound({ success: false, status: '04' }, 503)).toBe(false);
  expect(isNotFound({ success: false, status: '04' }, 500)).toBe(false);
  expect(isNotFound({ success: true, status: '04' }, 404)).toBe(false);
  expect(isNotFound({ success: false, status: 5 }, 404)).toBe(true);
  expect(isNotFound({ success: false }, 404)).toBe(false);
  expect(isNotFound('<html>', 404)).toBe(false);
  expect(isNotFound(null, 404)).toBe(false);
  for (const status of [401, 403, 429])
    expect(isNotFound({ success: false, status: '04' }, status), `HTTP ${status}`).toBe(false);
});

it.each([
  ['2026-11-21T12:00:00.123456Z', Date.UTC(2026, 10, 21, 12, 0, 0, 123)],
  ['2024-02-29T23:59:59.999999Z', Date.UTC(2024, 1, 29, 23, 59, 59, 999)],
  ['2026-11-21T24:00:00.000000Z', Date.UTC(2026, 10, 22)],
  ['2026-13-21T12:00:00.123456Z', null],
  ['2026-11-21T12:61:00.123456Z', null],
])('reads %s, the form in which the service shows times, as any other', (text, ms) => {
  expect(readInstant(text)).toBe(ms);
  expect(readInstant(` ${text}`)).toBe(ms);
});

it('reads times with any fraction, and zoneless ones as Lagos time', () => {
  expect(readInstant('2026-11-21T12:00:00.1234567890Z')).toBe(Date.UTC(2026, 10, 21, 12, 0, 0, 123));
  expect(readInstant('2026-11-21 12:00:00')).toBe(Date.UTC(2026, 10, 21, 11));
  expect(readInstant('yesterday')).toBeNull();
});
