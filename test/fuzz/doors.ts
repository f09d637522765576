import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startCoverage } from './doors/coverage.ts';
import { type Door, evolve } from './doors/evolve.ts';

const files = () => import('./doors/file-doors.ts');
const ledgers = () => import('./doors/ledger-doors.ts');
const service = () => import('./doors/service-doors.ts');

type DoorName =
  | ('batch' | 'collections' | 'workbook' | 'yaml' | 'dotenv')
  | ('webhook' | 'reply' | 'list')
  | ('restore' | 'archive' | 'admin');

/** Where bytes of others come in, each as the code behind it sees them. */
const doors: Record<DoorName, () => Promise<Door>> = {
  batch: async () => (await files()).openBatches(),
  collections: async () => (await files()).openCollections(),
  workbook: async () => (await files()).openWorkbooks(),
  yaml: async () => (await files()).openYaml(),
  dotenv: async () => (await files()).openDotenv(),
  webhook: async () => (await import('./doors/webhook-door.ts')).openWebhooks(),
  reply: async () => (await service()).openReplies(),
  list: async () => (await service()).openListPages(),
  restore: async () => (await ledgers()).openRestores(),
  archive: async () => (await ledgers()).openArchives(),
  admin: async () => (await ledgers()).openAdmin(),
};

// npm run fuzz:doors -- --door batch --inputs 100000 --seconds 60 --seed 1. `--keep` writes the corpus to begin with.
const { values } = parseArgs({
  options: {
    door: { type: 'string' },
    inputs: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});
const entry = Object.entries(doors).find(([name]) => name === values.door);
if (!entry) throw new Error(`--door is one of ${Object.keys(doors).join(', ')}`);
const [name, open] = entry;
const fixture = fileURLToPath(new URL(`../fixtures/doors/${name}.json`, import.meta.url));
const kept: string[] = existsSync(fixture) ? JSON.parse(readFileSync(fixture, 'utf8')) : [];

let strays = 0;
for (const event of ['unhandledRejection', 'uncaughtException', 'warning'] as const)
  process.on(event, (error: unknown) => {
    strays += 1;
    if (strays < 10) console.error(event, error);
  });

const door = await open();
const coverage = startCoverage(
  (url) => url.startsWith('file:') && !/\/test\/|\/node_modules\/(?!yaml|csv-parse)/.test(url),
);
const began = performance.now();
const done = await evolve(
  { ...door, seeds: [...door.seeds, ...kept.map((text) => Buffer.from(text, 'latin1'))] },
  coverage,
  { inputs: Number(values.inputs), seconds: Number(values.seconds), seed: Number(values.seed) },
);
const { reached, known } = coverage.blocks();
console.log(
  `${name}: ${done.inputs} inputs in ${((performance.now() - began) / 1000).toFixed(0)} s, ${reached} of ${known} blocks reached, slowest ${done.slowestMs.toFixed(0)} ms, highest ${done.highestMiB.toFixed(0)} MiB, ${done.corpus.length} inputs found new code, ${strays} unhandled, ${done.faults.length} faults`,
);
for (const { at, what, input } of done.faults)
  console.log(`  input ${at}: ${what}\n    ${input.slice(0, 4000)}`);
if (values.keep) {
  const short = [...kept, ...done.corpus.map((input) => input.toString('latin1'))].filter(
    (text) => text.length < 600,
  );
  mkdirSync(fileURLToPath(new URL('../fixtures/doors/', import.meta.url)), { recursive: true });
  writeFileSync(fixture, `${JSON.stringify(short.slice(0, 40), null, 1)}\n`);
}
process.exit(done.faults.length + strays > 0 ? 1 : 0);
