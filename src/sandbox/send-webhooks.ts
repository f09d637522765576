import { Agent, request } from 'undici';
import type { WireDomain } from '../core/service/wire.ts';
import type { SandboxModes } from './keyring.ts';
import type { Now } from './sandbox-clock.ts';
import { createPending, createSchedule } from './schedule.ts';
import { type WebhookMessage, webhookHeaders } from './webhook-message.ts';

/** Where webhooks go, by mode; a mode without an address gets none. */
export type WebhookUrls = { test?: string; live?: string };

export type WebhookSender = ReturnType<typeof createWebhookSender>;

const maxTries = 10;
const answerTimeoutMs = 10_000;
const connections = 32;

/**
 * Delivers webhooks until they are answered 200. It tries at most ten times: `retryMs` apart at first, then twice as long
 * each time.
 */
export function createWebhookSender(deps: { keys: SandboxModes; retryMs: number; now: Now }) {
  const pending = createPending();
  const schedule = createSchedule(pending);
  const agent = new Agent({
    connections,
    pipelining: 1,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
  });
  let urls: WebhookUrls = {};
  let stopped = false;

  async function post(message: WebhookMessage): Promise<boolean> {
    const url = urls[message.mode];
    const keys = deps.keys[message.mode];
    // The merchant removed the address: there is nothing to deliver or to retry.
    if (url === undefined || keys === undefined) return true;
    try {
      const headers = webhookHeaders(message, keys, deps.now());
      const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body: message.body });
      await answer.body.dump();
      return answer.statusCode === 200;
    } catch {
      return false;
    }
  }

  async function attempt(message: WebhookMessage, tried: number): Promise<void> {
    pending.begin();
    const delivered = await post(message);
    // A stop has reset the counter; another decrement would make it negative.
    if (stopped) return;
    const tries = tried + 1;
    if (!delivered && tries < maxTries) {
      schedule.after(deps.retryMs * 2 ** tried, () => void attempt(message, tries));
    }
    pending.end();
  }

  return {
    /** Sends at once, or after `delayMs`. Sends nothing to a mode without an address. */
    send(message: WebhookMessage, delayMs = 0): void {
      if (stopped || urls[message.mode] === undefined) return;
      if (delayMs > 0) schedule.after(delayMs, () => void attempt(message, 0));
      else void attempt(message, 0);
    },
    urlOf: (mode: WireDomain) => urls[mode],
    setUrls(changed: WebhookUrls): void {
      urls = { ...urls, ...changed };
    },
    /** Resolves when no delivery waits or runs. */
    idle: pending.idle,
    async stop(): Promise<void> {
      stopped = true;
      schedule.stop();
      await agent.destroy();
    },
  };
}

/**
 * Expands the option into addresses. A single address is the test mode's. One without a path is a base: each mode's
 * webhooks go to `/webhooks/MODE` below it.
 */
export function webhookUrls(option: string | WebhookUrls): WebhookUrls {
  if (typeof option !== 'string') return option;
  const { pathname, origin } = new URL(option);
  if (pathname !== '/') return { test: option };
  return { test: `${origin}/webhooks/test`, live: `${origin}/webhooks/live` };
}
