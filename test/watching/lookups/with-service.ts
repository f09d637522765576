import { afterEach, beforeEach } from 'vitest';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { clientOf } from '../../sending/setting.ts';
import { makeLedger, type TestLedger } from '../../support/ledger.ts';
import { handClock } from './setting.ts';

/** The ledger, the sandbox and its client of the test that runs, and the hand on its clock. */
export let ledger: TestLedger;
export let sandbox: Sandbox;
export let client: ServiceClient;
export const clock = handClock();

/** Replaces the service by another one. */
export async function restartService(options: SandboxOptions): Promise<void> {
  await client.close();
  await sandbox.stop();
  sandbox = await createSandbox(options);
  client = clientOf(sandbox);
}

/** Makes them anew for each test of a file. */
export function withService(): void {
  beforeEach(async () => {
    ledger = await makeLedger();
    sandbox = await createSandbox();
    client = clientOf(sandbox);
    clock.set(0);
  });
  afterEach(async () => {
    await client.close();
    await sandbox.stop();
    await ledger.remove();
  });
}
