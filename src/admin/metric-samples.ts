import { Counter, Gauge, type Registry } from 'prom-client';

/** One value of a metric; `labels` for the metric that has some. */
export type Sample<L extends string = string> = { labels?: Partial<Record<L, string>>; value: number };

export type Add = ReturnType<typeof addTo>;

/** Adds metrics with all their samples to a registry. A metric without samples is left out. */
export function addTo(registry: Registry) {
  const add =
    (Metric: typeof Gauge | typeof Counter) =>
    (name: string, help: string, samples: readonly Sample[]): void => {
      const [first] = samples;
      if (!first) return;
      const labelNames = Object.keys(first.labels ?? {});
      const metric = new Metric({ name, help, labelNames, registers: [registry] });
      for (const { labels = {}, value } of samples) metric.inc(labels, value);
    };
  return { gauge: add(Gauge), counter: add(Counter) };
}
