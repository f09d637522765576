import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Registry } from 'prom-client';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Clock } from '../../core/runtime/clock.ts';
import { queueKind } from '../../core/runtime/queue-open.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Routes } from './admin-server.ts';
import { type FigureSource, readFigures } from './ledger-figures.sql.ts';
import { ledgerMetrics, type MetricFacts } from './ledger-metrics.ts';

type Source = FigureSource & {
  config: Pick<Config, 'mode' | 'receiver' | 'admin' | 'queue'>;
  clock: Pick<Clock, 'now'>;
};

/** The figures of the ledger and its home as Prometheus text; `status --metrics` prints the same. */
export async function homeMetrics(source: Source, queue: MetricFacts['queue']): Promise<string> {
  const { config, clock, ledger } = source;
  const facts: MetricFacts = {
    nowMs: clock.now(),
    certificates: await certificatesOf(config),
    build: {
      version: packageJson.version,
      mode: config.mode,
      ledger: ledger.place.kind,
      queue: queueKind(config.queue.url),
    },
    queue,
  };
  return ledgerMetrics(await readFigures(source), facts);
}

/** `GET /metrics`: the home's figures, and those of this process. */
export function metricsRoutes(
  source: Source,
  deps: { queue(): Promise<MetricFacts['queue']>; ofProcess(): Promise<string> },
): Routes {
  return (server) => {
    server.get('/metrics', async (_request, reply) => {
      const text = (await homeMetrics(source, await deps.queue())) + (await deps.ofProcess());
      return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(text);
    });
  };
}

/** When the certificates end; one that cannot be read is left out, and `doctor` says why. */
async function certificatesOf({ receiver, admin }: Source['config']): Promise<MetricFacts['certificates']> {
  const found = await Promise.all(
    Object.entries({ receiver, admin }).map(async ([server, { tlsCert }]) => {
      if (tlsCert === '') return [];
      try {
        const { validTo } = new X509Certificate(await readFile(tlsCert));
        return [{ server, validTo: Date.parse(validTo) }];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}
