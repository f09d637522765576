import { expect, it, onTestFinished } from 'vitest';
import { readEvents } from '../../src/core/ledger/event-feed.ts';
import { tell } from '../../src/core/ledger/events.ts';
import type { EventJson } from '../../src/core/shapes/event-shapes.ts';
import type { Db } from '../../src/core/storage/ledger.ts';
import { archiveLedger } from '../../src/custody/archive/archive-ledger.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { makeLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { closedNovember, december, novemberEnds } from './archive-world.ts';
import { worded } from './worded.ts';

const now = (): string => december(14);

async function eventsOf(db: Db, after: string | null = null): Promise<EventJson[]> {
  const read = await readEvents(db, { after, limit: 1000, details: false });
  if (read.kind === 'lost') throw new Error(read.why);
  expect(read.next).toBe(null);
  return read.events;
}

it.skipIf(onPostgres)(
  'P39: a cursor from before what was archived is refused, and later ones go on',
  async () => {
    const made = await makeLedger();
    onTestFinished(() => made.remove());
    await closedNovember(made, made.folder);
    const before = await eventsOf(made.db);
    const ids = new Set(before.map(({ id }) => id));
    await made.close();
    const cursor = before[0]?.cursor ?? '';
    const outbox = { after_cursor: cursor, due_at: now(), noted_at: now() };
    const opened = await openLedger(made.path, { now });
    await opened.db
      .insertInto('event_outboxes')
      .values({ name: 'url', ...outbox })
      .execute();
    await opened.close();

    const refused = await archiveLedger({ path: made.path, before: novemberEnds, now });
    expect(worded(refused)).toMatchObject({ kind: 'refused', why: expect.stringContaining('events.url') });
    const delivered = await openLedger(made.path, { now });
    await delivered.db
      .updateTable('event_outboxes')
      .set({ after_cursor: before.at(-1)?.cursor ?? '' })
      .execute();
    await delivered.close();
    expect(await archiveLedger({ path: made.path, before: novemberEnds, now })).toMatchObject({
      kind: 'archived',
    });

    const ledger = await openLedger(made.path, { now });
    onTestFinished(() => ledger.close());
    const read = { after: cursor, limit: 10, details: false };
    expect(await readEvents(ledger.db, read)).toEqual({ kind: 'lost', why: 'archived' });
    // Without a cursor the events begin after the gap, each under its id and cursor of before.
    const kept = await eventsOf(ledger.db);
    expect(kept.length).toBeLessThan(before.length);
    expect(kept).toEqual(before.slice(-kept.length));
    for (const [i, { cursor: after }] of kept.entries())
      expect(await eventsOf(ledger.db, after)).toEqual(kept.slice(i + 1));
    // No number is used again.
    await ledger.write((trx) => tell(trx, now(), [{ type: 'halt.raised', data: { kind: 'person' } }]));
    const [added, ...more] = (await eventsOf(ledger.db)).slice(kept.length);
    expect(more).toEqual([]);
    expect(ids.has(added?.id ?? '')).toBe(false);
  },
);

it.skipIf(onPostgres)('P39: no number comes twice where an archive takes every event', async () => {
  const made = await makeLedger();
  onTestFinished(() => made.remove());
  await closedNovember(made, made.folder);
  // As if everything had been told in the month that goes.
  await made.db.updateTable('events').set({ after_history: 1n }).execute();
  const ids = new Set((await eventsOf(made.db)).map(({ id }) => id));
  await made.close();
  expect(await archiveLedger({ path: made.path, before: novemberEnds, now })).toMatchObject({
    kind: 'archived',
  });
  const ledger = await openLedger(made.path, { now });
  onTestFinished(() => ledger.close());
  const halted = { type: 'halt.raised' as const, data: { kind: 'person' as const } };
  await ledger.write((trx) => tell(trx, now(), [halted]));
  const added = (await eventsOf(ledger.db)).at(-1);
  expect(added).toMatchObject(halted);
  expect(ids.has(added?.id ?? '')).toBe(false);
});
