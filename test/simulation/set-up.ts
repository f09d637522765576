import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { type Config, loadConfig } from '../../src/core/settings/settings.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import type { Account } from './book.ts';
import { createBrakeWatch } from './brake-watch.ts';
import { brakeSettings } from './brake-weather.ts';
import { createCoverage } from './coverage.ts';
import { createDecisions } from './decisions-made.ts';
import { createEvidenceWatch } from './evidence-watch.ts';
import { createFall } from './fall.ts';
import { openInspector } from './inspector.ts';
import { createLateBytes } from './late-bytes.ts';
import { createWriteLock } from './ledger-seam.ts';
import { createListWatch } from './list-watch.ts';
import type { Random } from './random.ts';
import { accounts, createService, type Service } from './service.ts';
import { createTown, type Town } from './town.ts';
import { createWatch, returnHours } from './watch.ts';
import type { Weather } from './weather.ts';
import { createWebhooks } from './webhooks.ts';
import { createWorld } from './world.ts';

/** What a run may add: settings of the office, and answers of the service beside those that the weather decides. */
type Additions = { settings?: Settings; serve?: (service: Service) => Service };
type Settings = Record<string, Record<string, unknown>>;

/** `root`: the folder of the office. `wentBack`: the ledger went back in time. `end` removes everything. */
type SetUp = { town: Town; root: string; wentBack(): void; end(): void };

/** Builds the world, the service, the office with an empty ledger, and everybody who watches them. */
export async function setUpTown(
  random: Random,
  weather: Weather,
  { settings = {}, serve = (service) => service }: Additions = {},
): Promise<SetUp> {
  const root = mkdtempSync(join(memoryFolder(), 'counterfoil-simulation-'));
  const coverage = createCoverage();
  const { startsAt } = weather;
  const world = createWorld({ random, coverage, startsAt, keepTrace: true });
  const settingAt = createSettings(root, weather, settings);
  const { config } = settingAt(0);
  const log = createLogger({ to: { write: () => undefined } });
  const birth = await openLedger(config.ledgerFile, { now: () => new Date(startsAt).toISOString() });
  const inspector = openInspector(config.ledgerFile);
  await birth.close();
  let town: Town | undefined;
  const webhooks = createWebhooks({
    world,
    weather,
    isCalm: () => town?.calm ?? false,
    receiver: () => town?.receiver ?? null,
  });
  const service = serve(createService(world, weather, webhooks));
  const fall = createFall(world, inspector);
  const decisions = createDecisions(service.book, world.now, weather.quietPeriodMs);
  const brakes = createBrakeWatch({ world, book: service.book, inspector, weather, fall });
  const evidence = createEvidenceWatch({ world, weather, inspector, service });
  const lateBytes = createLateBytes(world, inspector);
  const lists = createListWatch({ world, weather, inspector, service });
  const watch = createWatch({
    ...{ world, book: service.book, inspector, decisions, weather, fall, brakes, evidence, lateBytes, lists },
  });
  const lock = createWriteLock(world);
  const built = createTown({
    world,
    weather,
    service,
    config,
    inspector,
    decisions,
    lock,
    fall,
    brakes,
    evidence,
    lateBytes,
    settingNow: () => settingAt(world.now() - startsAt),
    watch,
    log,
    ...watch,
  });
  town = built;
  const end = (): void => {
    inspector.close();
    rmSync(root, { recursive: true, force: true });
  };
  return { town: built, root, wentBack: watch.wentBack, end };
}

/** The configuration by the time of the day, as files that were read. */
function createSettings(
  root: string,
  weather: Weather,
  more: Settings,
): (ms: number) => { config: Config; account: Account } {
  const { approvalFromMs } = weather.brakes;
  const { elsewhere } = weather.long;
  const read = new Map<string, Config>();
  return (ms) => {
    const visit = elsewhere.find(({ fromMs, untilMs }) => ms >= fromMs && ms < untilMs);
    const account: Account = visit && ms < weather.lengthMs ? visit.by : 'home';
    const isCalm = ms >= weather.lengthMs;
    const rule = ms < approvalFromMs ? 0 : approvalFromMs;
    const key = `${account} ${rule} ${isCalm}`;
    const config = read.get(key) ?? configFor(root, weather, more, { ms: rule, account, isCalm });
    read.set(key, config);
    return { config, account };
  };
}

/** The configuration as it is `ms` into the day. */
function configFor(
  root: string,
  weather: Weather,
  more: Settings,
  { ms, account, isCalm }: { ms: number; account: Account; isCalm: boolean },
): Config {
  const { baseUrl, keys } = accounts[account];
  const settings = {
    mode: 'test',
    service: {
      base_url: baseUrl,
      timeout_ms: weather.timeoutMs,
      concurrency: weather.concurrency,
      requests_per_second: weather.requestsPerSecond,
    },
    submission: {
      quiet_period_minutes: weather.quietPeriodMs / 60_000,
      send_deadline_ms: weather.sendDeadlineMs,
      halt_after_unknown: weather.haltAfterUnknown,
      resubmit: weather.resubmit,
      ...brakeSettings(weather.brakes, ms),
    },
    ...(weather.long.returns && { reconciliation: { return_hours: returnHours } }),
    schedules: schedulesOf(weather, isCalm),
    ...(weather.long.zone && { reports: { timezone: weather.long.zone.name } }),
    ...(weather.long.skipsRows && { intake: { on_invalid_row: 'skip_row' } }),
  };
  mkdirSync(join(root, 'config'), { recursive: true });
  mkdirSync(join(root, 'data', 'inbox'), { recursive: true });
  writeFileSync(join(root, 'config', 'counterfoil.yaml'), JSON.stringify(merged(settings, more)));
  const env = { COUNTERFOIL_TEST_SECRET_KEY: keys.secret, COUNTERFOIL_TEST_PUBLIC_KEY: keys.public };
  const loaded = loadConfig({ cwd: root, env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

/** In the calm nothing is urgent, and most of a simulated day is calm. */
function schedulesOf({ long }: Weather, isCalm: boolean) {
  const { zone } = long;
  const often = isCalm && !zone ? '0 * * * *' : long.ordersWait ? '*/30 * * * *' : '*/15 * * * *';
  const daily = zone
    ? `${zone.fixed.minutes % 60} ${Math.floor(zone.fixed.minutes / 60)} * * *`
    : '0 2 * * *';
  return {
    ...(zone && { timezone: zone.name }),
    intake: long.dropsFiles ? '*/30 * * * *' : '',
    submit: long.sweeps ? often : '',
    follow_up: often,
    reconcile: long.readsPaper || zone ? daily : '',
    reconcile_full: '',
    report: '',
  };
}

/** The same settings, with those of each section that are added. */
function merged(settings: Record<string, unknown>, more: Settings): Record<string, unknown> {
  const sections = Object.entries(more).map(([name, section]) => [
    name,
    { ...Object(settings[name]), ...section },
  ]);
  return { ...settings, ...Object.fromEntries(sections) };
}
