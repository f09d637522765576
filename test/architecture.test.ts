import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

type Import = { to: string; typeOnly: boolean };
type Source = { path: string; text: string; imports: Import[] };
/** A rule names its violations; `bad` are samples, each of which it must object to. */
type Rule = { title: string; violations: (sources: Source[]) => string[]; bad: Source[][] };

/** The only places that build the stages. */
const builders = ['src/app.ts', 'src/local-app.ts', 'src/looking-app.ts'];
const stages = ['intake', 'submission', 'observation', 'decisions', 'reconciliation', 'reporting'];
const pureLibraries = ['big.js', 'currency-codes', 'luxon', 'node:crypto'];

const importPattern =
  /^\s*(?:import|export)\s+(type\s)?[^;'"`]*?\bfrom\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;

/** Relative imports become paths from the root, such as `src/domain/money.ts`; packages keep their names. */
function source(path: string, text: string): Source {
  const imports = [...text.matchAll(importPattern)].map(([, type, from, bare, lazy]) => {
    const to = from ?? bare ?? lazy ?? '';
    return { to: to.startsWith('.') ? normalize(join(dirname(path), to)) : to, typeOnly: type !== undefined };
  });
  return { path, text, imports };
}

/** `src/ledger/open.ts` is of the room `ledger`, `jobs/report.ts` of `jobs`, `src/cli.ts` of none. */
function room(path: string): string {
  const [top, second, third] = path.split('/');
  if (top === 'src') return third === undefined ? '' : (second ?? '');
  return top === 'jobs' ? 'jobs' : '';
}

const isOurs = (to: string): boolean => /^(src|jobs)\//.test(to);
const packageName = (to: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;

function imports(sources: Source[], wrong: (from: Source, what: Import) => boolean): string[] {
  return sources.flatMap((from) =>
    from.imports.filter((what) => wrong(from, what)).map((what) => `${from.path} imports ${what.to}`),
  );
}

function onlyIn(rooms: string[], packages: string[]): Rule['violations'] {
  return (sources) =>
    imports(
      sources,
      (from, { to }) => packages.includes(packageName(to)) && !rooms.includes(room(from.path)),
    );
}

/** Imports of types alone vanish when the code runs, so they make no cycle. */
function cycles(sources: Source[]): string[] {
  const byPath = new Map(sources.map((one) => [one.path, one]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (trail.includes(path) || done.has(path)) return;
    for (const { to, typeOnly } of byPath.get(path)?.imports ?? [])
      if (!typeOnly) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return found;
}

const rules: Rule[] = [
  {
    title: 'domain imports no other room and only pure libraries',
    violations: (sources) =>
      imports(
        sources.filter(({ path }) => room(path) === 'domain'),
        (_, { to }) => (isOurs(to) ? room(to) !== 'domain' : !pureLibraries.includes(to)),
      ),
    bad: [
      [source('src/domain/a.ts', "import type { Row } from '../ledger/tables.ts';")],
      [source('src/domain/a.ts', "import {\n  readFile,\n} from 'node:fs';")],
    ],
  },
  {
    title: 'stages never import each other',
    violations: (sources) =>
      imports(sources, ({ path }, { to }) => {
        const both = stages.includes(room(path)) && stages.includes(room(to));
        return both && room(path) !== room(to);
      }),
    bad: [[source('src/intake/a.ts', "export { b } from '../reporting/b.ts';")]],
  },
  {
    title: 'only the queue imports bullmq or ioredis, and no module loads them or pg before it needs them',
    violations: (sources) => [
      ...onlyIn(['runtime'], ['bullmq', 'ioredis'])(sources),
      ...sources
        .filter(({ text }) => /^\s*import\s+(?!type\s)[^;'"]*\bfrom\s+'(bullmq|ioredis|pg)'/m.test(text))
        .map(({ path }) => `${path} loads a driver at once`),
    ],
    bad: [
      [source('src/ledger/a.ts', "const { Queue } = await import('bullmq');")],
      [source('src/runtime/a.ts', "import { Redis } from 'ioredis';")],
      [source('src/ledger/a.ts', "import { Pool } from 'pg';")],
    ],
  },
  {
    title: 'only the ledger imports kysely or better-sqlite3',
    violations: onlyIn(['ledger'], ['kysely', 'better-sqlite3']),
    bad: [
      [source('src/intake/a.ts', "import type { Kysely } from 'kysely';")],
      [source('jobs/report.ts', "import { Migrator } from 'kysely/migration';")],
    ],
  },
  {
    title: 'only service and sandbox import undici',
    violations: onlyIn(['service', 'sandbox'], ['undici']),
    bad: [[source('src/observation/a.ts', "const { Pool } = await import('undici');")]],
  },
  {
    title: 'only src/environment.ts and src/bin.js mention process.env',
    violations: (sources) =>
      sources
        .filter(({ path }) => path !== 'src/environment.ts' && path !== 'src/bin.js')
        .filter(({ text }) => /process\s*\??\.\s*env\b|\benv\b[^;]*from 'node:process'/.test(text))
        .map(({ path }) => `${path} reads the environment`),
    bad: [
      [source('src/runtime/a.ts', 'const home = process.env.HOME;')],
      [source('src/runtime/a.ts', "import { env } from 'node:process';")],
    ],
  },
  {
    title: 'the sandbox takes only types from the rest, and only from service/wire.ts',
    violations: (sources) =>
      imports(
        sources.filter(({ path }) => room(path) === 'sandbox'),
        (_, { to, typeOnly }) =>
          isOurs(to) && room(to) !== 'sandbox' && !(typeOnly && to === 'src/service/wire.ts'),
      ),
    bad: [
      [source('src/sandbox/a.ts', "import { parse } from '../service/wire.ts';")],
      [source('src/sandbox/a.ts', "import type { Money } from '../domain/money.ts';")],
    ],
  },
  {
    title:
      'stages are built in src/app.ts, src/local-app.ts and src/looking-app.ts and composed in jobs; only the verbs use these',
    violations: (sources) =>
      imports(sources, ({ path }, { to, typeOnly }) => {
        if (typeOnly || room(path) === room(to))
          return ![...builders, 'src/cli.ts'].includes(path) && !typeOnly && builders.includes(to);
        if (builders.includes(to)) return room(path) !== 'commands';
        return stages.includes(room(to)) && !builders.includes(path) && room(path) !== 'jobs';
      }),
    bad: [
      [source('src/commands/submit.ts', "import { createSubmission } from '../submission/send.ts';")],
      [source('src/runtime/a.ts', "import { createApp } from '../app.ts';")],
      [source('src/config.ts', "import { createApp } from './app.ts';")],
    ],
  },
  {
    title: 'imports make no cycle',
    violations: cycles,
    bad: [
      [
        source('src/a.ts', "import { b } from './b.ts';"),
        source('src/b.ts', "import { c } from './c.ts';"),
        source('src/c.ts', "import './a.ts';"),
      ],
    ],
  },
  {
    title: 'no file has more than 300 lines',
    violations: (sources) =>
      sources.filter(({ text }) => text.trimEnd().split('\n').length > 300).map(({ path }) => path),
    bad: [[source('src/a.ts', 'a;\n'.repeat(301))]],
  },
  {
    title: 'files are named in kebab-case',
    violations: (sources) =>
      sources
        .map(({ path }) => path)
        .filter((path) => !/^([a-z0-9]+(-[a-z0-9]+)*\/)+[a-z0-9]+(-[a-z0-9]+)*\.(js|ts)$/.test(path)),
    bad: [[source('src/domain/batchRules.ts', '')], [source('src/domain/batch_rules.ts', '')]],
  },
];

function readSources(): Source[] {
  return ['src', 'jobs']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(js|ts)$/.test(name))
        .map((name) => source(join(folder, name), readFileSync(join(root, folder, name), 'utf8'))),
    );
}

const sources = readSources();

describe('the architecture', () => {
  it('has sources to look at', () => {
    expect(sources.map(({ path }) => path)).toContain('src/bin.js');
  });

  it.each(rules)('$title', ({ violations }) => {
    expect(violations(sources)).toEqual([]);
  });
});

describe('the check itself', () => {
  it.each(rules)('sees a violation of: $title', ({ violations, bad }) => {
    for (const sample of bad) expect(violations(sample)).not.toEqual([]);
  });

  it('objects to nothing in well-built samples', () => {
    const good = [
      source('src/cli.ts', "import { submit } from './commands/submit.ts';"),
      source(
        'src/commands/submit.ts',
        "import { createApp } from '../app.ts';\nimport type { Sent } from '../submission/send.ts';",
      ),
      source('src/app.ts', "import { createSubmission } from './submission/send.ts';"),
      source('src/submission/send.ts', "import { record } from '../ledger/record.ts';"),
      source('src/ledger/payouts/record.ts', "import { Kysely } from 'kysely';"),
      source('src/sandbox/book.ts', "import type { Transfer } from '../service/wire.ts';"),
      source('jobs/submit.ts', "import type { App } from '../src/app/app.ts';"),
    ];
    for (const { violations } of rules) expect(violations(good)).toEqual([]);
  });
});
