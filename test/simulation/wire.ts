import type { Delivery, HttpReply, HttpRequest, Transport } from '../../src/core/service/transport.ts';
import type { Life } from './life.ts';
import type { PostAnswer, Service } from './service.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/** The network of one process: what it wrote reaches the service whatever becomes of the process afterwards. */
export function createWire(deps: {
  world: World;
  life: Life;
  service: Service;
  weather: Weather;
  isCalm: () => boolean;
  /** Nobody reaches the service now. */
  isAway: () => boolean;
  /** The bytes of a bank transfer leave at this moment. */
  leaving: (life: Life, reference: string) => void;
  /** They left a process that had been stopped after its last check: what no client can know. */
  leavingLate: (reference: string) => void;
  /** The process asks for something, whatever becomes of it. */
  asking: (life: Life) => void;
  /** An answer came to it. */
  heard: (life: Life, path: string, reply: HttpReply) => void;
}): Transport {
  const { world, life, service, weather } = deps;
  const random = world.random.fork(`wire ${life.name}`);

  /** Waits for the answer for as long as the product does, and hands over whichever comes first. */
  function exchange(
    { path }: HttpRequest,
    resolve: (delivery: Delivery) => void,
  ): {
    answer(answer: PostAnswer): void;
    fail(): void;
  } {
    let over = false;
    const end = (delivery: Delivery): void => {
      if (over) return;
      over = true;
      const take = (): void => {
        if (delivery.kind === 'reply') deps.heard(life, path, delivery.reply);
        resolve(delivery);
      };
      const held = life.pass('as the answer comes');
      if (held) void held.then(take);
      else take();
    };
    const fail = (): void => end({ kind: 'failed', message: 'reset', timedOut: false, sent: true });
    world.after(weather.timeoutMs, life, () =>
      end({ kind: 'failed', message: 'time-out', timedOut: true, sent: true }),
    );
    const latency = (): number => random.between(1, 60);
    return {
      fail,
      answer(answer) {
        if (answer.kind === 'reply')
          world.after(answer.delayMs + latency(), life, () => end({ kind: 'reply', reply: answer.reply }));
        if (answer.kind === 'reset') world.after(latency(), life, fail);
      },
    };
  }

  function order(request: HttpRequest, resolve: (delivery: Delivery) => void): void {
    const reference = referenceIn(request);
    const again = service.book.arrivals(reference).length > 0;
    const drawn = deps.isCalm() ? null : weather.drawPostFault(random, again, reference);
    const fault = deps.isAway() ? 'connection refused' : drawn;
    const notSent = (message: string): void =>
      resolve({ kind: 'failed', message, timedOut: false, sent: false });
    if (fault) world.coverage.count(`POST: ${fault}`);
    if (fault === 'connection refused') {
      notSent('ECONNREFUSED');
      return;
    }
    if (!(request.mayWrite?.() ?? true)) {
      notSent('too old to send');
      return;
    }
    deps.leaving(life, reference);
    const { answer } = exchange(request, resolve);
    const arrive = (ms: number): void =>
      world.after(ms, null, () => answer(service.post(request, fault, life.account)));
    const late = fault === 'late on the network';
    if (!deps.isCalm() && random.chance(weather.stopsAtLastCheck)) {
      const stillness = weather.drawStillnessMs(random);
      world.coverage.count('machine: stopped at the last check');
      deps.leavingLate(reference);
      life.stop(stillness);
      world.after(stillness, life, () => arrive(1));
    } else arrive(late ? weather.timeoutMs + random.between(1, 900_000) : random.between(1, 60));
    // The next turn of this process may be its last: the bytes have left.
    void life.pass('as the bytes leave');
  }

  function question(request: HttpRequest, resolve: (delivery: Delivery) => void): void {
    const drawn = deps.isCalm() ? null : weather.drawQuestionFault(random);
    const fault = deps.isAway() ? 'no connection' : drawn;
    if (fault) world.coverage.count(`question: ${fault}`);
    if (fault === 'no connection') {
      resolve({ kind: 'failed', message: 'ECONNREFUSED', timedOut: false, sent: false });
      return;
    }
    const { answer } = exchange(request, resolve);
    world.after(random.between(1, 60), null, () => answer(service.question(request, fault, life.account)));
  }

  return {
    async deliver(request) {
      await life.pass('before the wire');
      deps.asking(life);
      return new Promise((resolve) => {
        const isOrder = request.path.endsWith('/bank_transfer');
        const begin = (): void => (isOrder ? order : question)(request, resolve);
        world.after(random.between(0, 30), life, begin);
      });
    },
    close: () => Promise.resolve(),
  };
}

function referenceIn(request: HttpRequest): string {
  const read: Record<string, unknown> = JSON.parse(request.body?.toString('utf8') ?? '{}');
  return String(read.reference);
}
