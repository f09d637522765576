import type { AppOptions } from '../../src/app/app.ts';
import type { Logger } from '../../src/core/runtime/logger.ts';
import type { Config } from '../../src/core/settings/settings.ts';
import type { Account } from './book.ts';
import type { BrakeWatch } from './brake-watch.ts';
import type { Decisions } from './decisions-made.ts';
import type { EvidenceWatch } from './evidence-watch.ts';
import type { Fall } from './fall.ts';
import type { Inspector } from './inspector.ts';
import type { LateBytes } from './late-bytes.ts';
import { createLedgerSeam, type WriteLock } from './ledger-seam.ts';
import { createLife, drawStrokes, type Life, type Stroke } from './life.ts';
import { createLiveness } from './liveness.ts';
import { readLookUp } from './replies.ts';
import { createScheduleWatch, type ScheduleWatch } from './schedule-watch.ts';
import type { Service } from './service.ts';
import { createStallWatch, type StallWatch } from './stall-watch.ts';
import type { Watch } from './watch.ts';
import type { Weather } from './weather.ts';
import type { Receiver } from './webhooks.ts';
import { createWire } from './wire.ts';
import type { World } from './world.ts';

/** Everything there is in one run: the world, the service, the machine with its one ledger, and who is watching. */
export type Town = {
  world: World;
  weather: Weather;
  service: Service;
  config: Config;
  inspector: Inspector;
  decisions: Decisions;
  lock: WriteLock;
  fall: Fall;
  brakes: BrakeWatch;
  evidence: EvidenceWatch;
  lateBytes: LateBytes;
  /** The configuration as a process that begins now reads it, and the account that it names. */
  settingNow(): { config: Config; account: Account };
  stalls: StallWatch;
  schedules: ScheduleWatch;
  /** POSTs of a reference that left us, heard or not. */
  left(reference: string): number;
  /** When an attempt was committed, true time. */
  begunAt(attempt: number): number;
  /** No more troubles: what is left must reach its end. */
  calm: boolean;
  /** Nobody reaches the service before that time. */
  awayUntil: number;
  /** Whoever listens for webhooks now. */
  receiver: Receiver | null;
  /** A new process, with what befalls it drawn by the seed. */
  begin(kind: 'serve' | 'submit' | 'person', more?: Stroke[]): { life: Life; options: AppOptions };
  /** The whole machine sleeps, and its monotonic clock with it. */
  sleep(ms: number): void;
  /** Every process ends at once, as when the machine is switched off. */
  switchOff(): void;
  /** A process's work threw: a ledger that failed ends it (P12), being taken over too; all else is a finding. */
  failed(life: Life, what: string, error: unknown): void;
};

export function createTown(
  deps: Omit<
    Town,
    'begin' | 'failed' | 'sleep' | 'switchOff' | 'calm' | 'awayUntil' | 'receiver' | 'stalls' | 'schedules'
  > & {
    watch: Watch;
    log: Logger;
  },
): Town {
  const { world, weather, inspector, lock } = deps;
  const random = world.random.fork('machine');
  const hosts = world.random.fork('hosts');
  const lives = new Map<string, Life>();
  const askedAt = new Map<Life, number>();

  const town: Town = {
    ...deps,
    calm: false,
    awayUntil: 0,
    stalls: createStallWatch(world, (life) => askedAt.get(life) ?? 0),
    schedules: createScheduleWatch(deps),
    receiver: null,
    begin(kind, more = []) {
      const strokes = town.calm ? [] : [...drawStrokes(random, weather.strokes, kind), ...more];
      const { config, account } = town.settingNow();
      const life = createLife(world, { name: `${kind}-${lives.size + 1}`, account }, strokes);
      lives.set(life.name, life);
      if (weather.brakes.hosts && kind === 'submit' && !town.calm) {
        life.offMs = hosts.between(-3, 3) * 24 * 3_600_000;
        if (life.offMs !== 0) world.coverage.count('machine: another host, its clock off by days');
      }
      world.trace(`${life.name} begins`);
      town.brakes.knows(life.name, config.submission.approval);
      const diskIsFull = !town.calm && !weather.isSteady && random.chance(0.07);
      const options: AppOptions = {
        config,
        log: deps.log,
        clock: life.clock,
        openLedger: createLedgerSeam(world, life, lock, deps.watch.committed),
        createWorkers: createLiveness(world, life, lives, weather.leaseMs),
        transport: createWire({
          world,
          life,
          service: town.service,
          weather,
          isCalm: () => town.calm,
          isAway: () => !town.calm && world.now() < town.awayUntil,
          leaving: deps.watch.leaving,
          leavingLate: deps.decisions.leftLate,
          asking: (one) => void askedAt.set(one, world.now()),
          heard: (one, path, reply) => {
            deps.brakes.heard(one, reply);
            const said = readLookUp(path, reply);
            if (said) deps.evidence.answered(one, said.reference, said.status);
          },
        }),
        ...(diskIsFull && { maxPageCount: inspector.pages() + random.between(0, 8) }),
      };
      return { life, options };
    },
    sleep(ms) {
      for (const life of lives.values()) if (life.alive) life.stop(ms, true);
    },
    switchOff() {
      for (const life of lives.values()) life.kill('switched off');
    },
    failed(life, what, error) {
      if (!life.alive) return;
      const code = codeOf(error);
      const told = error instanceof Error ? error.message : String(error);
      if (code === 'SQLITE_FULL') world.coverage.count('machine: disk full');
      if (/^SQLITE_(?!CONSTRAINT)/.test(code)) return life.kill(`${what}: ${code}`);
      if (told.includes('took over')) return life.kill(`${what}: taken over`);
      const stack = error instanceof Error ? error.stack : '';
      world.violate('nothing throws but a failing ledger', `${life.name}, ${what}: ${told}\n${stack}`);
      life.kill('surprise');
    },
  };
  return town;
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
