import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createCollectionConclusions } from '../books/discrepancies/conclude-collections.ts';
import { createReconciliation } from '../books/discrepancies/reconciliation.ts';
import { ActionNeeded } from '../core/domain/advice.ts';
import type { ServiceAccount } from '../core/domain/origin.ts';
import { createRedactor } from '../core/domain/redact.ts';
import type { Traces } from '../core/domain/trace.ts';
import { recordStandpoint } from '../core/ledger/origins.ts';
import { createRateLimiter, createThrottle } from '../core/runtime/rate-limiter.ts';
import { findServing } from '../core/runtime/serve-lock.ts';
import { createServiceTimes } from '../core/runtime/service-times.ts';
import { createWorkers } from '../core/runtime/worker-lock.ts';
import { createServiceClient } from '../core/service/client.ts';
import { chooseKey } from '../core/service/signing.ts';
import { timeTransport } from '../core/service/timed-transport.ts';
import { createTransport, type Transport } from '../core/service/transport.ts';
import type { ServiceClient } from '../core/service/types.ts';
import { type Config, secretsOf } from '../core/settings/settings.ts';
import { createAlerts } from '../faces/alerts/alerts.ts';
import { createEventPosts } from '../faces/alerts/event-posts.ts';
import { throughDay } from '../sending/claim-request.ts';
import { createPrechecks } from '../sending/precheck.ts';
import { preflight } from '../sending/preflight.ts';
import { createSender } from '../sending/send.ts';
import { takeOver } from '../sending/take-over.ts';
import { capWaits } from '../sending/waits.ts';
import { createCollectionLookUps } from '../watching/collections/verify-collections.ts';
import { createListing } from '../watching/listing/listing.ts';
import { createLookUps } from '../watching/lookups/lookups.ts';
import { createResends } from '../watching/lookups/resends.ts';
import { applyWebhooksAgain } from '../watching/webhooks/apply-inbox.ts';
import { openLocal } from './local.ts';
import { type AppOptions, accountIn } from './looking.ts';

/** The whole app, the service included. */
export type WholeApp = Awaited<ReturnType<typeof openWhole>>;

/**
 * Builds the whole worker of one mode and registers this process as `kind`. Closing records that the process ended without claims.
 * Throws MissingKeys when the mode has no secret key.
 */
export async function openWhole(options: AppOptions) {
  const { kind = 'command' } = options;
  const keys = serviceKeys(options.config, kind);
  const local = await openLocal(options);
  const { config, ledger, clock } = local;
  const { mode } = config;
  const workers = (options.createWorkers ?? createWorkers)({
    ledger,
    clock,
    id: `${kind}-${randomBytes(6).toString('hex')}`,
  });
  const closeLocal = async (error: unknown): Promise<never> => {
    await local.close();
    throw error;
  };
  const standpoint = await recordStandpoint(ledger, keys.account).catch(closeLocal);
  const quietPeriodMs = config.submission.quietPeriodMinutes * 60_000;
  /** Shortens waits to what their rule allows: a clock that was ahead may have recorded longer ones (P33). */
  const rebuildWaits = () => ledger.write((trx) => capWaits(trx, { at: clock.iso(), quietPeriodMs }));
  await workers.start(kind).then(rebuildWaits).catch(closeLocal);
  const limit = config.service;
  const times = createServiceTimes();
  const limiter = createRateLimiter({
    ledger,
    clock,
    name: 'requests',
    perMs: 1000,
    limit: limit.requestsPerSecond,
    onWait: times.onRateWait,
  });
  const service = openService(config, keys, {
    transport: options.transport,
    traces: local.traces,
    permit: () => limiter.take(),
    monotonic: clock.monotonic,
    timed: (transport) => timeTransport(transport, { ...times, monotonic: clock.monotonic }),
  });
  const asking = { ledger, clock, service, limiter };
  const throttle = createThrottle({
    ledger,
    clock,
    name: 'resends',
    perMs: 60_000,
    limit: limit.resendsPerMinute,
  });
  const rules = { concurrency: limit.concurrency };
  const probe = config.submission.resubmit === 'confirmed_absent';
  const lookUpRules = { ...rules, quietPeriodMs, probe };
  const lookUps = createLookUps({
    ...asking,
    workerId: workers.id,
    standpoint,
    rules: lookUpRules,
    onPages: (turn) =>
      local.log.info(turn, 'many look-ups were due: pages of the list answered most of them'),
  });
  const resends = createResends({
    ledger,
    clock,
    service,
    throttle,
    rules: { receives: config.receiver.enabled },
  });
  const listing = createListing({
    ...asking,
    account: keys.account,
    settings: {
      concurrency: limit.concurrency,
      maxPasses: config.reconciliation.maxPasses,
      windowDays: config.reconciliation.windowDays,
    },
  });
  const collectionLookUps = createCollectionLookUps({ ...asking, rules });
  const followUp = {
    lookUp: lookUps.askNow,
    askResend: resends.ask,
    applyStored: (signal?: AbortSignal) =>
      applyWebhooksAgain({ ledger, clock, account: keys.account, traces: local.traces }, signal),
  };
  const collections = createCollectionConclusions({
    ledger,
    config,
    clock,
    followUp: {
      verify: collectionLookUps.askNow,
      verifyDue: collectionLookUps.askDue,
      askResend: resends.askCollections,
    },
  });
  const { sendDeadlineMs, haltAfterUnknown } = config.submission;
  const onHeld = (err: unknown): void =>
    local.log.error({ err }, 'payouts of a dead process could not be marked unknown yet');
  const alerts = createAlerts({ ...local, worker: workers.id });
  const eventPosts = createEventPosts({ ...local, worker: workers.id });
  const brakes = local.brakesBy(service.serviceNow);
  return {
    ...local,
    brakes,
    /** Calls the watcher with the times of requests and of waits for the rate limit. */
    watchTimes: times.watch,
    alerts,
    eventPosts,
    intake: local.intakeAsking((ids, signal) => lookUps.lookUp(ids, signal), service.serviceNow),
    service,
    workers,
    rebuildWaits,
    lookUps,
    collectionLookUps,
    resends,
    reconciliation: createReconciliation({
      ledger,
      config,
      clock,
      listing,
      followUp,
      collections,
      standpoint,
    }),
    sender: createSender({
      ...asking,
      workerId: workers.id,
      standpoint,
      askService: lookUps.askNow,
      rules: { ...rules, sendDeadlineMs, haltAfterUnknown, brakes: local.brakes.under().brakes },
    }),
    prechecks: createPrechecks({
      ...asking,
      ...rules,
      extras: limit.extras,
      day: () => throughDay(brakes.under()),
      configured: currenciesIn(config.submission),
      onTrouble: (why) =>
        local.log.warn(
          { why },
          'the service gave no answer to service.extras: what asks before payment waits',
        ),
    }),
    preflight: (signal?: AbortSignal) => preflight({ service, clock, mode, baseUrl: limit.baseUrl }, signal),
    takeOver: () => takeOver({ ledger, clock, workers, onHeld }),
    async close() {
      await service.close();
      try {
        await workers.end();
      } finally {
        // A ledger whose database is away is closed too: `serve` opens it again.
        await local.close();
      }
    },
  };
}

/** The mode has no secret key; the message says where to set it, or whose it is. */
class MissingKeys extends ActionNeeded {
  readonly code = 'MISSING_KEYS';
  constructor(what: string, { config, name, kind }: { config: Config; name: string; kind: string }) {
    // serve holds its own lock already when it finds no key.
    const isServed = kind !== 'serve' && findServing(config.dataDir) === true;
    super(
      isServed ? `${what} in this shell` : `${what}: set ${name} in ${join(config.home, '.env')}`,
      isServed ? { kind: 'run_as_unit' } : null,
    );
  }
}

type ServiceKeys = { secretKey: string; encryptionKey: string | undefined; account: ServiceAccount };

/** The currencies that the limits and the approval rule name. */
function currenciesIn({ dailyLimit, payoutLimit, approvalAbove }: Config['submission']): string[] {
  return [dailyLimit, payoutLimit, approvalAbove].flatMap((amounts) => Object.keys(amounts));
}

function serviceKeys(config: Config, kind: string): ServiceKeys {
  const keys = config.keys[config.mode];
  const secretKey = keys?.secretKeys[0];
  const name = `COUNTERFOIL_${config.mode.toUpperCase()}`;
  const account = accountIn(config);
  if (!secretKey || !account)
    throw new MissingKeys(`no ${config.mode} key`, { config, name: `${name}_SECRET_KEY`, kind });
  const encryptionKey = keys?.encryptionKeys[0];
  const { authorizationKey, signatureKey } = config.service;
  if (!encryptionKey && (authorizationKey === 'encryption' || signatureKey === 'encryption')) {
    const what = 'the configuration asks for the encryption key, and there is none';
    throw new MissingKeys(what, { config, name: `${name}_ENCRYPTION_KEY`, kind });
  }
  return { secretKey, encryptionKey, account };
}

/** A connection to the service alone, without a ledger. Throws MissingKeys. */
export function connectService(config: Config): ServiceClient {
  return openService(config, serviceKeys(config, 'command'), {});
}

function openService(
  config: Config,
  keys: Pick<ServiceKeys, 'secretKey' | 'encryptionKey'>,
  wire: {
    transport?: Transport | undefined;
    traces?: Traces;
    permit?: () => Promise<void>;
    monotonic?: () => number;
    timed?(transport: Transport): Transport;
  },
): ServiceClient {
  const { timed = (transport) => transport } = wire;
  const { authorizationKey, signatureKey, baseUrl, timeoutMs, concurrency, codes, edgeRejections } =
    config.service;
  return createServiceClient({
    baseUrl,
    transport: timed(
      wire.transport ??
        createTransport({
          origin: new URL(baseUrl).origin,
          timeoutMs,
          concurrency,
          ...(wire.permit && { permit: wire.permit }),
        }),
    ),
    ...(wire.traces && { traces: wire.traces }),
    ...(wire.monotonic && { monotonic: wire.monotonic }),
    secretKey: keys.secretKey,
    orderKey: chooseKey(authorizationKey, keys),
    signingKey: chooseKey(signatureKey, keys),
    rules: { codes, edgeRejections },
    redact: createRedactor(secretsOf(config)),
  });
}
