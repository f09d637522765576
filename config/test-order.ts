import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * The usual order, longest first, with the simulation in front: where nothing is known yet of how long files take, the
 * usual order takes them by size, and a short file that runs for minutes would be left alone at the end.
 */
export class SimulationFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/simulation/');
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
