import type { HttpReply } from '../../src/core/service/transport.ts';
import type { BatchFile } from './batch-files.ts';
import type { Braked } from './brake-watch.ts';
import type { Inspector } from './inspector.ts';
import type { Life } from './life.ts';
import { localTimeIn } from './local-time.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/**
 * The oracle of days of payment (P38): an intent is committed on its day or later, by our clock and by the service's. Of the
 * service's clock a process knows what it was told.
 */
export type DateWatch = {
  /** The files that the office wrote. */
  expect(files: readonly BatchFile[]): void;
  /** A reply came to a process. */
  heard(life: Pick<Life, 'name'>, reply: HttpReply): void;
  began(attempt: Braked): void;
  /** The machine's clock was set. */
  stepped(): void;
};

export function createDateWatch({
  world,
  weather,
  inspector,
}: {
  world: World;
  weather: Weather;
  inspector: Inspector;
}): DateWatch {
  const dayIn = localTimeIn(weather.brakes.timezone);
  const dayAt = (ms: number): string => dayIn(ms).date;
  /** The day of each reference that has one. */
  const days = new Map<string, string>();
  /** How far the service's clock, as a process was told it, is ahead of the true time, in ms. */
  const aheadMs = new Map<string, number>();

  function expect(files: readonly BatchFile[]): void {
    const dated = files.flatMap(({ rows }) => rows.filter(({ payOn }) => payOn !== ''));
    for (const { reference, payOn } of dated) days.set(reference, payOn);
    if (dated.length > 0) world.coverage.count('brake: rows name days');
  }

  /** What an edge writes tells nothing: its clock may be ours. */
  function heard({ name }: Pick<Life, 'name'>, { text, headers }: HttpReply): void {
    const at = Date.parse(String(headers.date));
    if (!text.startsWith('{') || Number.isNaN(at)) return;
    aheadMs.set(name, Math.max(at - world.now(), aheadMs.get(name) ?? Number.NEGATIVE_INFINITY));
  }

  function began({ payout_id, worker_id, began_at, reference, successor_of }: Braked): void {
    const payOn = days.get(firstOf(payout_id));
    if (payOn === undefined) return;
    const fail = (detail: string): void =>
      world.violate('P38: nothing goes before its day', `${payOn}, and ${detail}`, reference);
    const ahead = aheadMs.get(worker_id);
    const service = ahead === undefined ? '' : dayAt(world.now() + ahead);
    const own = dayAt(Date.parse(began_at));
    if (service === '') fail('the service has not told this process its time');
    else if (service < payOn) fail(`the service's clock says ${service}`);
    // What is paid again went on its day before, and our clock may have been set back since.
    else if (own < payOn && successor_of === null) fail(`our clock says ${own}`);
    else world.coverage.count(service === payOn ? 'brake: sent on its day' : 'brake: sent after its day');
  }

  /** The reference of the row of the file: a payout that pays another again has its day. */
  function firstOf(payout: number): string {
    const sql = `with recursive line (id, before, reference) as (
        select id, successor_of, reference from payouts where id = ?
        union all select p.id, p.successor_of, p.reference from line join payouts p on p.id = line.before)
      select reference from line where before is null`;
    return inspector.rows<{ reference: string }>(sql, payout)[0]?.reference ?? '';
  }

  function stepped(): void {
    const [own, now] = [dayAt(world.now() + world.wallError), dayAt(world.now())];
    if (days.size > 0 && own !== now)
      world.coverage.count(`brake: our clock in a day ${own > now ? 'to come' : 'gone by'}`);
  }

  return { expect, heard, began, stepped };
}
