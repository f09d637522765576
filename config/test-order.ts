import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files that are short and take long. */
const long = [
  '/test/simulation/',
  '/test/queue-chaos/',
  '/test/scenarios/shared-queue',
  '/test/scenarios/side-by-side',
];

/**
 * The usual order, longest first, with what is known to take long in front: where nothing is known yet of how long files
 * take, the usual order takes them by size, and a short file that runs for minutes would be left alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => long.some((part) => moduleId.includes(part));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
