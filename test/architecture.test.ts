import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { entryName } from '../src/faces/terminal/entries/entry.ts';
import { entryGroups } from '../src/faces/terminal/entries/groups.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `lazy`: loaded only when that line runs. */
type Import = { to: string; typeOnly: boolean; lazy: boolean };
type Source = { path: string; text: string; imports: Import[] };
/** A rule names its violations; `bad` are samples, each of which it must object to. */
type Rule = { title: string; violations: (sources: Source[]) => string[]; bad: Source[][] };

/** A room imports only rooms that stand above it in this list (docs/architecture.md). */
const rooms = [
  ...[
    'core/domain',
    'core/shapes',
    'core/service',
    'core/storage',
    'core/settings',
    'core/ledger',
    'core/runtime',
  ],
  ...[
    'watching/lookups',
    'watching/listing',
    'watching/collections',
    'watching/webhooks',
    'watching/evidence',
  ],
  'sending',
  'intake',
  'books/discrepancies',
  'sending/decisions',
  'books',
  'custody',
  'findings',
  'words',
  ...['faces/alerts', 'faces/web/kit', 'faces/web/report', 'faces/files'],
  ...['app', 'jobs', 'verbs', 'words/results'],
  'faces/json',
  ...['faces/admin', 'faces/web/dashboard', 'faces/api', 'faces/callback'],
  'client',
  'daemon',
  'sandbox',
  'demo',
  'faces/terminal',
  'entry',
];
const pureLibraries = ['big.js', 'currency-codes', 'luxon', 'node:crypto'];
/** Rooms in which every file may hold SQL; in the others only files named `*.sql.ts` (docs/architecture.md). */
const sqlRooms = ['core/storage', 'core/ledger', 'custody'];

/** The rooms that word things for people; `entry` starts commands, and the demo is one. */
const wordingRooms = [
  'words',
  'words/results',
  'faces/alerts',
  'faces/web/report',
  'faces/files',
  'faces/admin',
  'faces/web/dashboard',
  'faces/json',
  'faces/api',
  'demo',
  'faces/terminal',
  'entry',
];
const verbs = entryGroups.flatMap(([, entries]) => entries.map(entryName)).join('|');
const commandLine = new RegExp(`\\bcounterfoil (?:${verbs})\\b`);

const importPattern =
  /^\s*(?:import|export)\s+(type\s)?[^;'"`]*?\bfrom\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;

const exportPattern = /^export (?:async )?(?:function\*?|const|let|class|type) (\w+)/gm;

/** Relative imports become paths from the root, such as `src/core/domain/money.ts`; packages keep their names. */
function source(path: string, text: string): Source {
  const imports = [...text.matchAll(importPattern)].map(([, type, from, bare, lazy]) => {
    const to = from ?? bare ?? lazy ?? '';
    const file = to.startsWith('.') ? normalize(join(dirname(path), to)) : to;
    return { to: file, typeOnly: type !== undefined, lazy: lazy !== undefined };
  });
  return { path, text, imports };
}

/** `src/core/ledger/record.ts` is of the room `core/ledger`, `jobs/report.ts` of `jobs`, `src/cli.ts` of `entry`. */
function room(path: string): string {
  if (path.startsWith('jobs/')) return 'jobs';
  const folders = path.split('/').slice(1, -1);
  if (!path.startsWith('src/') || folders.length === 0) return 'entry';
  for (let depth = folders.length; depth > 0; depth--) {
    const name = folders.slice(0, depth).join('/');
    if (rooms.includes(name)) return name;
  }
  return folders.join('/');
}

const isOurs = (to: string): boolean => /^(src|jobs)\//.test(to);
const packageName = (to: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;

function imports(sources: Source[], wrong: (from: Source, what: Import) => boolean): string[] {
  return sources.flatMap((from) =>
    from.imports.filter((what) => wrong(from, what)).map((what) => `${from.path} imports ${what.to}`),
  );
}

function onlyIn(allowed: string[], packages: string[]): Rule['violations'] {
  return (sources) =>
    imports(
      sources,
      (from, { to }) => packages.includes(packageName(to)) && !allowed.includes(room(from.path)),
    );
}

/** Circles of files, imports of types included. */
function circles(sources: Source[]): string[] {
  const byPath = new Map(sources.map((one) => [one.path, one]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (trail.includes(path) || done.has(path)) return;
    for (const { to } of byPath.get(path)?.imports ?? []) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return found;
}

/** The packages that a file loads before anything runs, with the file that names each. */
function loadedBy(path: string, sources: Source[]): string[] {
  const files = new Set([path]);
  const packages: string[] = [];
  for (const one of files)
    for (const { to, typeOnly, lazy } of sources.find((source) => source.path === one)?.imports ?? []) {
      if (typeOnly || lazy) continue;
      if (isOurs(to)) files.add(to);
      else if (!to.startsWith('node:')) packages.push(`${packageName(to)} by ${one}`);
    }
  return packages;
}

const rules: Rule[] = [
  {
    title: 'the help loads one package, so that it comes at once',
    violations: (sources) =>
      loadedBy('src/cli.ts', sources).filter((name) => !/^(commander|package\.json) /.test(name)),
    bad: [
      [
        source('src/cli.ts', "import { b } from './faces/terminal/b.ts';"),
        source('src/faces/terminal/b.ts', "import { sql } from 'kysely';"),
      ],
    ],
  },
  {
    title: 'a room imports only rooms that stand above it, types included',
    violations: (sources) => [
      ...sources.filter(({ path }) => !rooms.includes(room(path))).map(({ path }) => `${path} is in no room`),
      ...imports(
        sources,
        ({ path }, { to }) => isOurs(to) && rooms.indexOf(room(to)) > rooms.indexOf(room(path)),
      ),
    ],
    bad: [
      [source('src/intake/a.ts', "export { b } from '../books/b.ts';")],
      [source('src/core/ledger/a.ts', "import type { Order } from '../../sending/order.ts';")],
      [source('src/sending/a.ts', "const { b } = await import('../app/b.ts');")],
      [source('src/unknown/a.ts', '')],
    ],
  },
  {
    title: 'files make no circle, types included',
    violations: circles,
    bad: [
      [
        source('src/a.ts', "import { b } from './b.ts';"),
        source('src/b.ts', "import type { c } from './c.ts';"),
        source('src/c.ts', "import './a.ts';"),
      ],
    ],
  },
  {
    title: 'domain uses only pure libraries',
    violations: (sources) =>
      imports(
        sources.filter(({ path }) => room(path) === 'core/domain'),
        (_, { to }) => !isOurs(to) && !pureLibraries.includes(to),
      ),
    bad: [[source('src/core/domain/a.ts', "import {\n  readFile,\n} from 'node:fs';")]],
  },
  {
    title: 'SQL stands in core/storage, core/ledger, custody and in files named *.sql.ts',
    violations: (sources) =>
      sources
        .filter(({ path }) => !sqlRooms.includes(room(path)) && !path.endsWith('.sql.ts'))
        .filter(
          ({ text, imports: all }) =>
            all.some(({ to }) => ['kysely', 'better-sqlite3', 'pg'].includes(packageName(to))) ||
            /\.(selectFrom|insertInto|updateTable|deleteFrom)\(/.test(text),
        )
        .map(({ path }) => `${path} holds SQL`),
    bad: [
      [source('src/intake/a.ts', "import type { Kysely } from 'kysely';")],
      [source('jobs/report.ts', "import { Migrator } from 'kysely/migration';")],
      [source('src/sending/claims.ts', "await trx.selectFrom('payouts').selectAll().execute();")],
    ],
  },
  {
    title: 'only the queue imports bullmq or ioredis, and no module loads them or pg before it needs them',
    violations: (sources) => [
      ...onlyIn(['core/runtime'], ['bullmq', 'ioredis'])(sources),
      ...sources
        .filter(({ text }) => /^\s*import\s+(?!type\s)[^;'"]*\bfrom\s+'(bullmq|ioredis|pg)'/m.test(text))
        .map(({ path }) => `${path} loads a driver at once`),
    ],
    bad: [
      [source('src/core/ledger/a.ts', "const { Queue } = await import('bullmq');")],
      [source('src/core/runtime/a.ts', "import { Redis } from 'ioredis';")],
      [source('src/core/storage/a.ts', "import { Pool } from 'pg';")],
    ],
  },
  {
    title: 'only service and sandbox import undici',
    violations: onlyIn(['core/service', 'sandbox'], ['undici']),
    bad: [[source('src/watching/lookups/a.ts', "const { Pool } = await import('undici');")]],
  },
  {
    title: 'the client takes only types from the rest, and no package',
    violations: (sources) =>
      imports(
        sources.filter(({ path }) => room(path) === 'client'),
        (_, { to, typeOnly }) => !typeOnly && !to.startsWith('src/client/'),
      ),
    bad: [
      [source('src/client/a.ts', "import { operations } from '../faces/api/operations.ts';")],
      [source('src/client/a.ts', "import { request } from 'undici';")],
    ],
  },
  {
    title: 'only src/core/settings/environment.ts and src/bin.js mention process.env',
    violations: (sources) =>
      sources
        .filter(({ path }) => path !== 'src/core/settings/environment.ts' && path !== 'src/bin.js')
        .filter(({ text }) => /process\s*\??\.\s*env\b|\benv\b[^;]*from 'node:process'/.test(text))
        .map(({ path }) => `${path} reads the environment`),
    bad: [
      [source('src/core/runtime/a.ts', 'const home = process.env.HOME;')],
      [source('src/core/runtime/a.ts', "import { env } from 'node:process';")],
    ],
  },
  {
    title: 'the sandbox takes only types from the rest, and only from core/service/wire.ts',
    violations: (sources) =>
      imports(
        sources.filter(({ path }) => room(path) === 'sandbox'),
        (_, { to, typeOnly }) =>
          isOurs(to) && room(to) !== 'sandbox' && !(typeOnly && to === 'src/core/service/wire.ts'),
      ),
    bad: [
      [source('src/sandbox/a.ts', "import { parse } from '../core/service/wire.ts';")],
      [source('src/sandbox/a.ts', "import type { Money } from '../core/domain/money.ts';")],
    ],
  },
  {
    title: 'only commands open an app',
    violations: (sources) =>
      imports(
        sources,
        ({ path }, { to, typeOnly }) =>
          !typeOnly && room(to) === 'app' && !['app', 'faces/terminal', 'entry'].includes(room(path)),
      ),
    bad: [
      [source('src/daemon/a.ts', "import { openApp } from '../app/app.ts';")],
      [source('jobs/a.ts', "const { openApp } = await import('../src/app/app.ts');")],
    ],
  },
  {
    title: 'a file that a thread runs is named without .ts: the installed program has it as .js',
    violations: (sources) =>
      sources
        .filter(({ text }) => /new URL\(['"`][^'"`]+\.ts['"`]/.test(text))
        .map(({ path }) => `${path} names a file that the installed program lacks`),
    bad: [[source('src/custody/a.ts', "new Worker(new URL('./a-worker.ts', import.meta.url));")]],
  },
  {
    title: 'command lines appear only where facts are worded',
    violations: (sources) =>
      sources
        .filter(({ path }) => !wordingRooms.includes(room(path)))
        .filter(({ text }) => commandLine.test(text))
        .map(({ path }) => `${path} holds a command line`),
    bad: [
      [source('src/sending/a.ts', "const why = 'it is held: counterfoil release lets it go';")],
      [source('jobs/a.ts', "const next = 'counterfoil show PAY-1';")],
    ],
  },
  {
    title: 'a verb imports no words and no face',
    violations: (sources) =>
      imports(sources, (from, { to }) => room(from.path) === 'verbs' && /^(words|faces)\b/.test(room(to))),
    bad: [
      [source('src/verbs/a.ts', "import { adviceText } from '../words/advice-text.ts';")],
      [source('src/verbs/a.ts', "import type { Html } from '../faces/web/kit/html.ts';")],
    ],
  },
  {
    title: 'each exported name means one thing; a job and a frozen migration have names of their own',
    violations: (sources) => {
      const names = sources
        .filter(({ path }) => !path.startsWith('jobs/') && !path.includes('/migrations/'))
        .flatMap(({ path, text }) =>
          [...text.matchAll(exportPattern)].map(([, name = '']) => ({ name, path })),
        );
      return [...Map.groupBy(names, ({ name }) => name)]
        .filter(([, all]) => all.length > 1)
        .map(([name, all]) => `${name} is exported by ${all.map(({ path }) => path).join(' and ')}`);
    },
    bad: [
      [
        source('src/core/domain/a.ts', 'export type Verdict = 1;'),
        source('src/app/a.ts', 'export const Verdict = 1;'),
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
        .filter((path) => !/^([a-z0-9]+(-[a-z0-9]+)*\/)+[a-z0-9]+(-[a-z0-9]+)*(\.sql)?\.(js|ts)$/.test(path)),
    bad: [[source('src/core/domain/batchRules.ts', '')], [source('src/core/domain/batch_rules.ts', '')]],
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

  it('names every room in docs/architecture.md, in its order', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `(?:src\/)?([a-z/]+)\/` \|/gm)].map(([, name]) => name);
    expect(listed).toEqual(rooms.filter((name) => name !== 'entry'));
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
      source('src/cli.ts', "const { submit } = await import('./faces/terminal/submit.ts');"),
      source(
        'src/faces/terminal/submit/submit.ts',
        "import { openApp } from '../app/app.ts';\nimport type { Sent } from '../sending/send.ts';",
      ),
      source('src/app/app.ts', "import { createSender } from '../sending/send.ts';"),
      source('src/sending/send.ts', "import { claim } from './claims.sql.ts';"),
      source('src/sending/claims.sql.ts', "import { record } from '../core/ledger/record.ts';"),
      source('src/core/ledger/record.ts', "import { Kysely } from 'kysely';"),
      source('src/sandbox/transfer-book.ts', "import type { Transfer } from '../core/service/wire.ts';"),
      source('jobs/submit.ts', "import type { App } from '../src/app/app.ts';"),
    ];
    for (const { violations } of rules) expect(violations(good)).toEqual([]);
  });
});
