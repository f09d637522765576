import { expect, it } from 'vitest';
import { createRedactor } from '../../../src/core/domain/redact.ts';
import { createLogger } from '../../../src/core/runtime/logger.ts';

it.each(['info', 'warn', 'error', 'fatal'] as const)(
  'at level %s no key and no whole account number is logged',
  (level) => {
    const lines: string[] = [];
    const log = createLogger({
      to: { write: (line) => void lines.push(line) },
      redact: createRedactor(['sk_test_0123456789']),
    });
    const order = { account_number: '0123456789', narration: 'for sk_test_0123456789' };
    const error = Object.assign(new Error('refused {"account_number":"0123456789"} for sk_test_0123456789'), {
      order,
    });
    log[level](
      { order, accountNumber: '0123456789', authorization: 'Bearer x', err: error },
      'sk_test_0123456789',
    );
    log.child({ deep: { in: { the: { order } } } })[level](JSON.stringify(order));
    const text = lines.join('');
    expect(lines).toHaveLength(2);
    expect(text).not.toContain('0123456789');
    expect(text).not.toContain('Bearer x');
    expect(text).toContain('******6789');
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  },
);
