import { expect, it } from 'vitest';
import { parsed } from '../../../src/faces/json/plain-parts.ts';

it('a message of the service is its fields, and an account number in it is text that can be masked', () => {
  expect(parsed('{"account_number":1000000001,"amount":5}', '1000000001')).toEqual({
    account_number: '1000000001',
    amount: 5,
  });
  expect(parsed('{"account_number":123456789}', '0123456789')).toEqual({ account_number: '0123456789' });
  expect(parsed('<html>502</html>', '1000000001')).toBe('<html>502</html>');
  expect(parsed('{"cut":"off')).toBe('{"cut":"off');
  expect(parsed(null)).toBe(null);
});
