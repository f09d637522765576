import { describe, expect, it } from 'vitest';
import { createRedactor, maskAccount, maskAccounts } from '../../../src/core/domain/redact.ts';

describe('a redactor', () => {
  it('takes a secret out wherever it stands, as JSON or a URL spell it too', () => {
    const redact = createRedactor(['sk/test "one"', 'sk/test']);
    expect(redact('Bearer sk/test "one", again sk/test "one"')).toBe('Bearer [hidden], again [hidden]');
    expect(redact('{"key":"sk/test \\"one\\""}')).toBe('{"key":"[hidden]"}');
    expect(redact('{"key":"sk\\/test \\"one\\""}')).toBe('{"key":"[hidden]"}');
    expect(redact('?key=sk%2Ftest%20%22one%22')).toBe('?key=[hidden]');
  });

  it('takes the longer of two out whole where one begins with the other', () => {
    expect(createRedactor(['enc_test_1', 'enc_test_123'])('enc_test_123')).toBe('[hidden]');
  });

  it('leaves alone what is too short to be a key or could be an account number', () => {
    const redact = createRedactor(['a', '', 'NGN', '0123456789']);
    expect(redact('a NGN payout to 0123456789')).toBe('a NGN payout to 0123456789');
    const lengths = createRedactor(['seven77', 'eight888', '9'.repeat(21)]);
    expect(lengths(`seven77 eight888 ${'9'.repeat(21)}`)).toBe('seven77 [hidden] [hidden]');
  });
});

it('masks an account number but for its last four digits, also inside JSON and text', () => {
  expect(maskAccount('0123456789')).toBe('******6789');
  expect(maskAccounts('{"account_number":"0123456789","amount":"1500.00"}')).toBe(
    '{"account_number":"******6789","amount":"1500.00"}',
  );
  expect(maskAccounts('"msg":"sent {\\"accountNumber\\":\\"0123456789\\"}"')).toContain('******6789');
  expect(maskAccounts('account_number=0123456789 id 0123456789')).toBe(
    'account_number=******6789 id 0123456789',
  );
});
