import { Counter, Gauge, type Registry } from 'prom-client';

/** One value of a metric; `labels` for the metric that has some. */
export type Sample<L extends string = string> = { labels?: Partial<Record<L, string>>; value: number };

export type AddSample = ReturnType<typeof addTo>;

/** Adds metrics with all their samples, which may have different labels. A metric without samples is left out. */
export function addTo(registry: Registry) {
  const add =
    (Metric: typeof Gauge | typeof Counter) =>
    (name: string, help: string, samples: readonly Sample[]): void => {
      if (samples.length === 0) return;
      const labelNames = [...new Set(samples.flatMap(({ labels = {} }) => Object.keys(labels)))];
      const metric = new Metric({ name, help, labelNames, registers: [registry] });
      for (const { labels = {}, value } of samples) metric.inc(labels, value);
    };
  return { gauge: add(Gauge), counter: add(Counter) };
}
