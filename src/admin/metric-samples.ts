import { Counter, Gauge, type Registry } from 'prom-client';

/** One value of a metric; `labels` for the metric that has some. */
export type Sample<L extends string = string> = { labels?: Partial<Record<L, string>>; value: number };

/** Adds metrics with all their samples to a registry. A metric without samples is left out. */
export type Add = {
  gauge(name: string, help: string, samples: readonly Sample[]): void;
  counter(name: string, help: string, samples: readonly Sample[]): void;
};

export function addTo(registry: Registry): Add {
  const shape = (name: string, help: string, samples: readonly Sample[]) => {
    return { name, help, labelNames: Object.keys(samples[0]?.labels ?? {}), registers: [registry] };
  };
  return {
    gauge(name, help, samples) {
      if (samples.length === 0) return;
      const metric = new Gauge(shape(name, help, samples));
      for (const { labels = {}, value } of samples) metric.set(labels, value);
    },
    counter(name, help, samples) {
      if (samples.length === 0) return;
      const metric = new Counter(shape(name, help, samples));
      for (const { labels = {}, value } of samples) metric.inc(labels, value);
    },
  };
}
