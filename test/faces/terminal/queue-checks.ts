import { loadConfig } from '../../../src/core/settings/settings.ts';
import { checkQueue } from '../../../src/faces/terminal/doctor/doctor-queue.ts';
import { makeHome } from '../../support/cli.ts';

/** What doctor says of the queue at this address. */
export const checksOf = async (url: string, offline = false) => {
  const home = await makeHome({}, { COUNTERFOIL_QUEUE_URL: url });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  return checkQueue(loaded.config, { offline });
};
