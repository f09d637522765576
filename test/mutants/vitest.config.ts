import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';
import base, { root } from '../../config/vitest.base.ts';
import { mutate } from './mutate.ts';
import type { Job } from './runner.ts';

const { files }: Job = JSON.parse(readFileSync(process.env.MUTANTS_JOB ?? '', 'utf8'));
const order: string[] = JSON.parse(process.env.MUTANTS_TESTS ?? '[]');

/** The nearest tests first, as the caller says. */
class AsGiven extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => order.indexOf(relative(root, moduleId));
    return specs.toSorted((a, b) => place(a) - place(b));
  }
}

const withMutants = {
  name: 'with-mutants',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    const file = relative(root, id);
    const first = files[file];
    return first === undefined ? null : { code: mutate(file, code, first).text, map: null };
  },
};

export default mergeConfig(
  base,
  defineConfig({
    plugins: [withMutants],
    test: {
      include: order,
      reporters: ['dot'],
      runner: `${root}test/mutants/runner.ts`,
      sequence: { sequencer: AsGiven },
      isolate: false,
      // What is kept of a file would have the mutants of another run in it.
      fsModuleCache: false,
      maxWorkers: 1,
      bail: 1,
      testTimeout: 10_000,
    },
  }),
);
