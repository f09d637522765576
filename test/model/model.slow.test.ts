import { describe, expect, it } from 'vitest';
import { checkModel, faults, missingTool } from './prove-model.ts';

const missing = await missingTool();
if (missing !== null) console.log(`skipped: the model of sending (there is no ${missing})`);
/** Nobody crashes: the whole of it takes `npm run prove:model`. */
const size = { attempts: 2, orders: 1, crashes: 0 };

describe.skipIf(missing !== null)('the model of sending, without a crash', () => {
  it('P4: no state of it breaks a rule', async () => {
    const { errors, states, whole } = await checkModel(size, null);
    console.log(`the model of sending: ${states} states`);
    expect({ errors, whole }).toEqual({ errors: 0, whole: true });
  }, 600_000);

  const planted = faults.filter(({ breaks }) => !breaks.startsWith('P3:'));
  it.each(planted)(
    'spin finds $define: $breaks',
    async (fault) => {
      expect((await checkModel(size, fault)).errors).toBeGreaterThan(0);
    },
    600_000,
  );
});
