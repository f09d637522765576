import type { App } from '../../src/app/app.ts';
import type { LoopName } from './bare-process.ts';
import * as ours from './ours.ts';
import { countRequests } from './requests.ts';
import { type Service, type ServiceKind, startService } from './service.ts';
import { slowCommits } from './slow-disk.ts';
import { type Line, timed } from './table.ts';

/** `file`: the batch. `home`: where the worker lives. `looked`: how many payouts are settled by look-ups. */
export type OursOrder = {
  kind: ServiceKind;
  file: string;
  home: string;
  rows: number;
  looked: number;
  concurrency: number;
  /** Above 0: each commit of sending takes so much longer, and nothing after sending is measured. */
  commitMs: number;
};
/** Each step with its bare loop. */
export type OursStep = Line & { loop: LoopName };
/** `requests`: of the step `submit`. */
export type OursFigures = { steps: OursStep[]; peakMb: number; requests: number };

/** Sends the batch through every step, in a process and with a service of their own; prints how it went. */
const order: OursOrder = JSON.parse(process.argv[2] ?? '');
const service = await startService(order.kind);
const app = await ours.openBenchApp(order.home, service, order.concurrency);
const requests = countRequests();
let submitRequests = 0;
const steps = await measure(app, service, order);
await app.close();
await service.stop();
const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
const figures: OursFigures = { steps, peakMb, requests: submitRequests };
process.stdout.write(JSON.stringify(figures));

async function measure(
  app: App,
  service: Service,
  { file, rows, looked, commitMs }: OursOrder,
): Promise<OursStep[]> {
  const steps: OursStep[] = [];
  const step = async <T>(name: string, loop: LoopName, count: number, work: () => Promise<T>): Promise<T> => {
    const { result, ...line } = await timed(work);
    steps.push({ step: name, loop, rows: count, ...line });
    return result;
  };
  await step('check', 'parse', rows, () => ours.check(app, file, rows));
  const batch = await step('intake', 'parse', rows, () => ours.takeIn(app, file, rows));
  if (commitMs > 0) {
    slowCommits(commitMs);
    await step(`submit, commits of ${commitMs} ms`, 'posts', rows, () => ours.submit(app, rows));
    return steps;
  }
  const before = requests();
  await step('submit', 'posts', rows, () => ours.submit(app, rows));
  submitRequests = requests() - before;
  const paid = await service.settle();
  await step('settle by look-ups', 'lookUps', looked, () => ours.lookUp(app, looked));
  await step('settle by reconciling', 'listing', rows, () => ours.reconcile(app, rows));
  const found = await ours.countSuccesses(app);
  ours.expectCount("successes in the ledger, against the service's book", found, paid);
  await step('reconcile again', 'listing', rows, () => ours.reconcile(app, rows));
  await step('report', 'write', rows, () => ours.report(app, batch));
  return steps;
}
