import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * The usual order, longest first, slow files in front: where nothing is known yet of how long files
 * take, the usual order takes them by size, and a short file that runs for minutes would be left alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith('.slow.test.ts');
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
