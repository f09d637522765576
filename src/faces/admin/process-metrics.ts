import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, Histogram, Registry } from 'prom-client';

const requestBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const waitBuckets = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];
/** The delay of the event loop is that of the last whole minute. */
const windowMs = 60_000;
/** How often the event loop is looked at, ms; Node counts this time as delay too. */
const resolutionMs = 20;

/** What only this process knows: times of its requests to the service, its waits, its event loop and its memory. */
export function createProcessMetrics() {
  const registers = [new Registry()];
  const requests = new Histogram({
    name: 'counterfoil_request_duration_seconds',
    help: 'Requests to the service by operation and result.',
    labelNames: ['operation', 'result'],
    buckets: requestBuckets,
    registers,
  });
  const waits = new Histogram({
    name: 'counterfoil_rate_limit_wait_seconds',
    help: 'How long requests waited for service.requests_per_second.',
    buckets: waitBuckets,
    registers,
  });
  const delay = new Gauge({
    name: 'counterfoil_event_loop_delay_seconds',
    help: 'Delay of the event loop in the last whole minute.',
    labelNames: ['quantile'],
    registers,
  });
  new Gauge({
    name: 'counterfoil_resident_memory_bytes',
    help: 'Memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'counterfoil_start_time_seconds',
    help: 'When the process started, since the epoch.',
    registers,
  }).set(performance.timeOrigin / 1000);
  const loop = monitorEventLoopDelay({ resolution: resolutionMs });
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
  const note = (): void => {
    delay.set({ quantile: '0.5' }, seconds(loop.percentile(50)));
    delay.set({ quantile: '0.99' }, seconds(loop.percentile(99)));
    delay.set({ quantile: '1' }, seconds(loop.max));
    loop.reset();
  };
  loop.enable();
  const timer = setInterval(note, windowMs).unref();
  return {
    onRequest: ({ seconds, ...labels }: { operation: string; result: string; seconds: number }) =>
      requests.observe(labels, seconds),
    onRateWait: (seconds: number) => waits.observe(seconds),
    text: () => Registry.merge(registers).metrics(),
    stop(): void {
      clearInterval(timer);
      loop.disable();
    },
  };
}
