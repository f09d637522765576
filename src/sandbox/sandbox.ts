import { createCollectionWebhooks, createPayoutWebhooks } from './announce.ts';
import { createExtras } from './extras.ts';
import type { Fault, FaultFor } from './faults.ts';
import { startHttpServer } from './http-server.ts';
import { createInitiate, type Duplicates } from './initiate.ts';
import { createKeyring, makeTestKeys, type SandboxKeys, type SandboxModes } from './keyring.ts';
import { createSandboxListing } from './list-pages.ts';
import type { SandboxListOrder } from './listed-rows.ts';
import { createRandom } from './random.ts';
import { createResend } from './resend-endpoint.ts';
import { createRoutes } from './routes.ts';
import type { Now } from './sandbox-clock.ts';
import { createScenario } from './scenarios.ts';
import { createWebhookSender, type WebhookUrls, webhookUrls } from './send-webhooks.ts';
import { createSettlement } from './settlement.ts';
import { createBook } from './transfer-book.ts';

export type { Fault } from './faults.ts';
export { duplicatesNames } from './initiate.ts';
export type { SandboxKeys } from './keyring.ts';
export { scenarioNames } from './scenarios.ts';

/** How the local service behaves; every member has a default. */
export type SandboxOptions = {
  host?: string;
  port?: number;
  keys?: { test?: SandboxKeys; live?: SandboxKeys };
  seed?: number;
  /** One of `scenarioNames`; by default `calm`. */
  scenario?: string;
  /** Faults of single payouts by reference; they take precedence over the scenario's. */
  faults?: Readonly<Record<string, Fault>>;
  /** One address for test-mode webhooks, a base without a path for both modes, or one address for each mode. */
  webhookUrl?: string | WebhookUrls;
  settleMs?: number;
  perPage?: number;
  resendsPerMinute?: number;
  latencyMs?: number;
  /** The first delay between the attempts of a webhook; later delays grow. */
  webhookRetryMs?: number;
  duplicates?: Duplicates;
  /** A signature must be valid under both readings of its rule: an order accepted here passes at either kind of service. */
  strictSignature?: boolean;
  listOrder?: SandboxListOrder;
  now?: Now;
};

/** A running local service, with everything a test or a demo may do to it. */
export type Sandbox = Awaited<ReturnType<typeof createSandbox>>;

/** Starts a local payments service that speaks the whole interface. Throws on an unknown scenario. */
export async function createSandbox(options: SandboxOptions = {}) {
  const now = options.now ?? Date.now;
  const seed = options.seed ?? 1;
  const scenario = createScenario(options.scenario ?? 'calm', seed);
  const faults = new Map<string, Fault>(Object.entries(options.faults ?? {}));
  const faultFor: FaultFor = (reference) => faults.get(reference) ?? scenario.faultFor(reference);
  const keys = modesOf(options.keys, seed);
  const settleMs = options.settleMs ?? 300;
  const delivery = createWebhookSender({ keys, retryMs: options.webhookRetryMs ?? 200, now });
  if (options.webhookUrl !== undefined) delivery.setUrls(webhookUrls(options.webhookUrl));
  const announcing = { delivery, faultFor, lateMs: 500 + 5 * settleMs };
  const webhooks = createPayoutWebhooks(announcing);
  const collectionWebhooks = createCollectionWebhooks(announcing);
  const book = createBook({
    now,
    random: createRandom(seed + 1),
    listOrder: options.listOrder ?? 'newest',
    faultFor,
    announceCollection: collectionWebhooks.changed,
  });
  if (scenario.stranger) book.plant();
  const settlement = createSettlement({ book, faultFor, webhooks, settleMs });
  const extras = createExtras(book);
  const counter = createRequestCounter();
  let url = '';
  const server = await startHttpServer({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    latencyMs: options.latencyMs ?? 0,
    now,
    answer: createRoutes({
      book,
      callerOf: createKeyring(keys),
      initiate: createInitiate({
        book,
        settlement,
        faultFor,
        duplicates: options.duplicates ?? 'refuse',
        strictSignature: options.strictSignature ?? false,
      }),
      listing: createSandboxListing({ book, perPage: options.perPage ?? 50, base: () => `${url}/api/v1` }),
      resend: createResend({
        book,
        delivery,
        webhooks,
        collectionWebhooks,
        perMinute: options.resendsPerMinute ?? 60,
        now,
      }),
      extras,
      received: counter.received,
    }),
  });
  url = server.url;

  return {
    /** The base address, without `/api/v1`. */
    url,
    keys,
    book,
    faults,
    extras: extras.extras,
    requests: counter.counts,
    setWebhookUrl: (address: string) => delivery.setUrls(webhookUrls(address)),
    /** Settles everything pending; resolves when its webhooks are delivered or given up. */
    async settleAll(): Promise<void> {
      // Once for each stage: a return waits for the success that it reverses.
      while (settlement.waiting() > 0) {
        settlement.flush();
        await delivery.idle();
      }
      await delivery.idle();
    },
    /** Resolves when no settlement and no delivery is pending or running. */
    async idle(): Promise<void> {
      await settlement.idle();
      await delivery.idle();
    },
    async stop(): Promise<void> {
      settlement.stop();
      await Promise.all([server.stop(), delivery.stop()]);
    },
  };
}

function modesOf(keys: SandboxOptions['keys'], seed: number): SandboxModes {
  const test = keys?.test ?? makeTestKeys(seed);
  return keys?.live === undefined ? { test } : { test, live: keys.live };
}

/** Counts the bodies of initiations, whatever their outcome: the proof that a payout was sent once. */
function createRequestCounter() {
  const byReference = new Map<string, number>();
  let posts = 0;
  return {
    counts: {
      /** Bodies received completely. */
      get posts(): number {
        return posts;
      },
      /** Bodies that carried this reference. */
      bodies: (reference: string) => byReference.get(reference) ?? 0,
    },
    received(reference: string | undefined): void {
      posts += 1;
      if (reference !== undefined) byReference.set(reference, (byReference.get(reference) ?? 0) + 1);
    },
  };
}
