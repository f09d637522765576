import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createDeflateRaw } from 'node:zlib';

/** What this thread waits for in real time: files, and turns of the event loop. */
const ofFiles = /^(FSReq|CloseReq|Immediate)/;
/** Compressions and drawings under way in other threads, which the list of the runtime does not show. */
let elsewhere = 0;

let isWatching = false;

/** From now on {@link whenIdle} sees what the product lets other threads do. */
export function watchThreads(): void {
  if (isWatching) return;
  isWatching = true;
  const deflates: ReturnType<typeof createDeflateRaw> = Object.getPrototypeOf(createDeflateRaw());
  const { _transform: transform } = deflates;
  deflates._transform = function counted(chunk, encoding, done) {
    elsewhere += 1;
    transform.call(this, chunk, encoding, (...result) => {
      elsewhere -= 1;
      done(...result);
    });
  };
  const { postMessage, terminate } = Worker.prototype;
  Worker.prototype.postMessage = function counted(...message) {
    owe(this, 'message');
    postMessage.apply(this, message);
  };
  Worker.prototype.terminate = function counted() {
    owe(this, 'exit');
    return terminate.call(this);
  };
}

/** A message to a thread has one answer; a thread that ends owes none. */
function owe(worker: Worker, answer: 'message' | 'exit'): void {
  elsewhere += 1;
  const paid = (): void => {
    elsewhere -= 1;
    worker.off(answer, paid).off('exit', paid);
  };
  worker.on(answer, paid);
  if (answer !== 'exit') worker.on('exit', paid);
}

/** So many turns of the event loop take less time than the shortest pause. */
const quickLooks = 50;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Resolves when nothing is under way in real time any more: no file is read or written, and no turn of the event loop is
 * asked for. So a step of virtual time has an end however long the disk takes, and the seed alone decides what is next.
 */
export async function whenIdle(): Promise<void> {
  await turn();
  for (let looks = 0; ; looks++) {
    const waits = process.getActiveResourcesInfo().filter((kind) => ofFiles.test(kind));
    if (waits.length === 0 && elsewhere === 0) return;
    // Most files take microseconds. To ask again for long would keep the machine from what is waited for.
    if (looks < quickLooks || waits.includes('Immediate')) await turn();
    else await sleep(1);
  }
}
