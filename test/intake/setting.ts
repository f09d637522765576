import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/core/runtime/clock.ts';
import { type Config, loadConfig } from '../../src/core/settings/settings.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { createIntake, type Intake } from '../../src/intake/intake.ts';
import type { RetryRows } from '../../src/intake/retries.ts';
import type { TakenFile, TakeOptions } from '../../src/intake/take.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { adviceText } from '../../src/words/advice-text.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { secret } from '../faces/callback/approving-server.ts';
import { openNewLedger } from '../support/new-ledger.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const head = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';
export const row = (
  reference: string,
  amount = '100',
  account = '0123456785',
  name = 'Adaeze Okonkwo',
): string => `${reference},${account},${name},058,${amount},NGN,Salary,Acme`;
export const csv = (...rows: string[]): string => `${[head, ...rows].join('\n')}\n`;

/** Intake that also takes a single file. */
export type OneByOne = Intake & { takeIn(file: string, options: TakeOptions): Promise<TakenFile> };

export type Setting = {
  ledger: Ledger;
  config: Config;
  clock: Clock & { advance(ms: number): void };
  intake: OneByOne;
  drop(name: string, content: string | Buffer): string;
  names(folder: 'inbox' | 'archive' | 'rejected'): string[];
  read(folder: 'inbox' | 'archive' | 'rejected', name: string): string;
  path(folder: 'inbox' | 'archive' | 'rejected', name: string): string;
  /** Intake of another process on the same ledger and folders. */
  again(yaml?: string): OneByOne;
  /** Intake over another ledger, or that asks others about rows that pay others again. */
  built(other: { retries?: RetryRows; ledger?: Ledger; serviceNow?: () => number }): OneByOne;
};

/** A ledger and folders of its own, with a clock that moves only when told to. */
export async function setting(yaml = ''): Promise<Setting> {
  const home = temporaryFolder();
  const data = join(home, 'data');
  const at = (folder: string): string => join(data, folder);
  for (const folder of ['inbox', 'archive', 'rejected', 'reports'])
    mkdirSync(at(folder), { recursive: true });
  let now = Date.parse('2026-11-21T10:00:00.000Z');
  const clock = {
    now: () => now,
    iso: () => new Date(now).toISOString(),
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
    advance: (ms: number) => {
      now += ms;
    },
  };
  const ledger = await openNewLedger(join(data, 'ledger.db'), { now: clock.iso });
  const paths = {
    inbox: at('inbox'),
    archive: at('archive'),
    rejected: at('rejected'),
    reports: at('reports'),
  };
  const rules = { referencePrefix: '', payoutLimit: {} };
  const judged = createDecisions({ ledger, clock, rules, say: rowFaultText }).rows;
  const built = (other: Parameters<Setting['built']>[0], text = yaml): OneByOne =>
    oneByOne({
      ledger,
      clock,
      config: configOf(home, text),
      paths,
      retries: judged,
      say: adviceText,
      ...other,
    });
  const again = (text = yaml): OneByOne => built({}, text);
  return {
    ledger,
    config: configOf(home, yaml),
    clock,
    intake: again(),
    again,
    built,
    drop(name, content) {
      writeFileSync(join(at('inbox'), name), content);
      return join(at('inbox'), name);
    },
    names: (folder) => readdirSync(at(folder)).sort(),
    read: (folder, name) => readFileSync(join(at(folder), name), 'utf8'),
    path: (folder, name) => join(at(folder), name),
  };
}

function oneByOne(deps: Parameters<typeof createIntake>[0]): OneByOne {
  const intake = createIntake(deps);
  const takeIn = async (file: string, options: TakeOptions) => {
    const [taken] = (await intake.takeFiles([file], options)).taken;
    if (!taken) throw new Error(`neither taken nor refused: ${file}`);
    return taken;
  };
  return { ...intake, takeIn };
}

function configOf(home: string, yaml: string): Config {
  mkdirSync(join(home, 'config'), { recursive: true });
  const text = `service: { base_url: "http://127.0.0.1:1" }\n${yaml}`;
  writeFileSync(join(home, 'config', 'counterfoil.yaml'), text);
  const loaded = loadConfig({ cwd: home, env: { COUNTERFOIL_EVENTS_SECRET: secret } });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('; '));
  return loaded.config;
}

/** What was said about a refused file, one text; throws when it was taken. */
export function refusal(taken: TakenFile): string {
  if (taken.kind !== 'refused') throw new Error(`not refused but ${taken.kind}`);
  return taken.problems.map((p) => `row ${p.row} ${p.column} ${p.value} ${p.problem}; ${p.fix}`).join('\n');
}

export function batchOf(taken: TakenFile | undefined): string {
  if (taken?.kind !== 'taken') throw new Error(`not taken: ${taken ? refusal(taken) : 'nothing'}`);
  return taken.batch;
}

/** Behind every day of payment. */
export const anyDay = '9999-12-31';
