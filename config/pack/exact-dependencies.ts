import { z } from 'zod';

const lockfile = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
    }),
  ),
});

type Versions = Record<string, string>;

/**
 * The packages that a checkout runs with, each at its locked version: npm reads no lockfile of a tarball. A list of
 * dependencies can name one version of a package, so it leaves out those below another package.
 */
export function exactDependencies(lock: unknown): { dependencies: Versions; optionalDependencies: Versions } {
  const dependencies: Versions = {};
  const optionalDependencies: Versions = {};
  for (const [path, { version, dev, optional }] of Object.entries(lockfile.parse(lock).packages)) {
    const name = path.replace(/^node_modules\//, '');
    if (dev || version === undefined || name === '' || name.includes('node_modules/')) continue;
    (optional ? optionalDependencies : dependencies)[name] = version;
  }
  return { dependencies, optionalDependencies };
}
