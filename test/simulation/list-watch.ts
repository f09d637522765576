import type { Inspector } from './inspector.ts';
import type { Service } from './service.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/** P28: while something keeps the service's list from being complete, no run calls it so. `judge` at each commit. */
export type ListWatch = { judge(): void };

type Run = { id: string; complete: number | null };

export function createListWatch(deps: {
  world: World;
  weather: Weather;
  inspector: Inspector;
  service: Service;
}): ListWatch {
  const { world, weather, inspector, service } = deps;
  // The list of another account is whole.
  if (weather.long.listFlaw === null || weather.long.elsewhere.length > 0) return { judge: () => undefined };
  const begun = new Map<string, number>();
  const judged = new Set<string>();
  const sql = `select id, case when finished_at is null then null
    else coalesce(json_extract(summary, '$.complete') = 1, 0) end as complete from runs`;

  function judge(): void {
    const flaw = service.listFlaw();
    for (const { id, complete } of inspector.rows<Run>(sql)) {
      const since = begun.get(id) ?? world.now();
      begun.set(id, since);
      if (complete === null || judged.has(id)) continue;
      judged.add(id);
      if (!flaw || since < flaw.since) continue;
      world.coverage.count(`list: ${flaw.kind}`);
      if (complete === 1)
        world.violate(
          'P28: what cannot be proven is not complete',
          `run ${id}, and the list has ${flaw.kind}`,
        );
    }
  }
  return { judge };
}
