import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import { createShutdown } from '../../../src/core/runtime/shutdown.ts';

describe('shutdown', () => {
  it('stops gracefully at the first signal and leaves with 130 at the second', () => {
    const signals = new EventEmitter();
    const exits: unknown[] = [];
    const on = (name: string, listener: () => void) => signals.on(name, listener);
    const off = (name: string, listener: () => void) => signals.off(name, listener);
    const shutdown = createShutdown({ process: { on, off, exit: (code) => exits.push(code) } });
    signals.emit('SIGTERM');
    expect([shutdown.signal.aborted, exits]).toEqual([true, []]);
    signals.emit('SIGINT');
    expect(exits).toEqual([130]);
    shutdown.dispose();
    expect(signals.listenerCount('SIGINT')).toBe(0);
  });
});

describe('logger', () => {
  it('hides keys and bank details by name, and is quiet when asked', () => {
    const lines: string[] = [];
    const to = { write: (line: string) => void lines.push(line) };
    createLogger({ to }).info(
      { headers: { authorization: 'Bearer x1' }, payout: { account_number: '0123456789' } },
      'sent',
    );
    expect(lines.join()).toContain('sent');
    expect(lines.join()).not.toMatch(/x1|0123456789/);
    createLogger({ quiet: true, to }).info('silent');
    expect(lines).toHaveLength(1);
  });
});
