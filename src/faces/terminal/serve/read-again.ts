import { connectService } from '../../../app/whole.ts';
import { systemClock } from '../../../core/runtime/clock.ts';
import { changedSettings, changesAccess, fixedAmong } from '../../../core/settings/changed-settings.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { preflight } from '../../../sending/preflight.ts';
import { readTlsPair, type TlsSection } from '../../../watching/webhooks/tls.ts';
import { preflightText } from '../../../words/preflight-words.ts';
import { loadSettings } from '../context/context.ts';
import type { Context } from '../context/world.ts';

/** What a reload found. `changed` names settings and secrets. */
export type ReadAgain =
  | { kind: 'same' }
  | { kind: 'changed'; config: Config; changed: string[] }
  | { kind: 'refused'; why: string };

/**
 * Reads settings, keys, tokens and certificates again from their sources, and proves that `serve` can work with them:
 * the files are valid, nothing is changed that only a new start can change, and the service takes new keys (P24).
 */
export async function readSettingsAgain(context: Context, inUse: Config): Promise<ReadAgain> {
  try {
    const config = await loadSettings(context);
    const changed = changedSettings(inUse, config);
    if (changed.length === 0) return { kind: 'same' };
    const fixed = fixedAmong(changed);
    if (fixed.length > 0)
      return refused(`a reload cannot change ${fixed.join(', ')}: stop serve and start it again`);
    for (const section of ['receiver', 'admin'] as const) await proveTls(config, section);
    const problem = changesAccess(changed) ? await askWith(config, context.signal) : null;
    return problem === null ? { kind: 'changed', config, changed } : refused(problem);
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
}

function refused(why: string): ReadAgain {
  return { kind: 'refused', why };
}

/** Throws TlsProblem for a certificate or key that its server could not use. */
async function proveTls(config: Config, section: TlsSection): Promise<void> {
  const { enabled, tlsCert: certFile, tlsKey: keyFile } = config[section];
  if (enabled && certFile !== '') await readTlsPair({ certFile, keyFile, section });
}

/** Asks one page of the list with these keys. Returns why they cannot be used; null where they can. */
async function askWith(config: Config, signal: AbortSignal): Promise<string | null> {
  const service = connectService(config);
  try {
    const { mode, service: at } = config;
    const asked = await preflight({ service, clock: systemClock(), mode, baseUrl: at.baseUrl }, signal);
    return asked.kind === 'clear' ? null : preflightText(asked.problem);
  } finally {
    await service.close();
  }
}
