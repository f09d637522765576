import { systemClock } from '../../../src/core/runtime/clock.ts';
import { createInlineQueue } from '../../../src/core/runtime/queue-inline.ts';
import { describeQueue, retry } from './queue-conformance.ts';

describeQueue('inline', async (onFailed) => createInlineQueue({ clock: systemClock(), retry, onFailed }));
