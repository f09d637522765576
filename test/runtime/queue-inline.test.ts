import { systemClock } from '../../src/runtime/clock.ts';
import { createInlineQueue } from '../../src/runtime/queue-inline.ts';
import { describeQueue } from './queue-conformance.ts';

describeQueue('inline', async (onFailed) =>
  createInlineQueue({ clock: systemClock(), retry: { attempts: 3, backoffMs: 1 }, onFailed }),
);
