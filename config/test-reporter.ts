import type { SerializedError } from 'vitest';
import { DefaultReporter, type TestModule, type TestRunEndReason } from 'vitest/node';

/**
 * The default reporter, the ten slowest files, and as the very last line the counts alone: `12 passed, 0 failed`, with `, 1 skipped` where
 * something was. A file that does not load and an error outside any test count as failed, so that 0 failed means it.
 */
export class CountReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    errors: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
    this.ctx.logger.log(['The slowest files:', ...slowest(modules)].join('\n'));
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      if (!module.ok() && count.failed === failedBefore) count.failed += 1;
    }
    const failed = count.failed + count.pending;
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    this.ctx.logger.log(`${count.passed} passed, ${failed} failed${skipped}`);
  }
}

/** The ten files that took longest, as lines: seconds and name. */
function slowest(modules: ReadonlyArray<TestModule>): string[] {
  const files = modules.map((module) => ({
    ms: module.diagnostic().duration,
    name: module.relativeModuleId,
  }));
  return files
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, 10)
    .map(({ ms, name }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
}
