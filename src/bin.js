#!/usr/bin/env node
// Plain JavaScript that an old Node (14.18 and later) can parse. Where this Node is new enough, it runs the program.
// Otherwise it starts the Node pinned in optionalDependencies and stays beside it as a launcher.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const thisFile = fileURLToPath(import.meta.url);
const root = dirname(dirname(thisFile));
/**
 * The launcher gives its worker this name. The worker must run whatever its version, and knows that its IPC channel is
 * ours.
 */
const workerName = 'counterfoil-worker';
/** @type {NodeJS.Signals[]} */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** A signal to the process group and its forwarded copy arrive within this time of each other. */
const pairWindowMs = 1000;
/** npm repeats a signal that reached the group within a few milliseconds; a person's second Ctrl-C comes later. */
const repeatWindowMs = 200;
const disconnectGraceMs = 10_000;

/** What brings missing packages: a checkout has a lockfile, an installed package has none. */
function howToInstall() {
  return existsSync(join(root, 'package-lock.json'))
    ? `run "npm ci" in ${root}`
    : 'install Counterfoil again, with its optional packages';
}

/** @param {string} text @param {number} code @returns {never} */
function refuse(text, code) {
  process.stderr.write(`counterfoil: ${text}\n`);
  process.exit(code);
}

/** @param {string} range `>=major.minor`, the only form used in our engines field */
function runtimeSatisfies(range) {
  const wanted = (/^>=(\d+)\.(\d+)/.exec(range) || []).slice(1).map(Number);
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted;
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** @param {string} range */
function launch(range) {
  const name = `node-${process.platform}-${process.arch}`;
  let binary = '';
  try {
    const manifest = nodeModule.createRequire(import.meta.url).resolve(`${name}/package.json`);
    binary = join(dirname(manifest), 'bin', 'node');
  } catch {
    refuse(
      `needs Node ${range}, this is ${process.versions.node}, and the pinned runtime (${name}) is not installed; ${howToInstall()}, or use a newer Node`,
      2,
    );
  }
  const worker = spawn(binary, [thisFile, ...process.argv.slice(2)], {
    argv0: workerName,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // Forward by message only: a real signal would reach the worker twice when the whole group got it.
  for (const signal of stopSignals) {
    process.on(signal, () => {
      if (worker.connected) worker.send({ signal }, () => {});
    });
  }
  worker.on('error', (error) => {
    if (worker.pid === undefined) refuse(`cannot start the pinned runtime ${binary}: ${error.message}`, 2);
  });
  worker.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

/**
 * Lets handlers of stop signals run once per signal that a user sent, whether it came directly, from the launcher,
 * or both. Node binds process.emit when a signal's first handler is added, so this comes before any other code.
 * @returns {{ forward: (signal: NodeJS.Signals) => void, stopping: () => boolean }}
 */
function countSignalsOnce() {
  const emit = process.emit;
  /** @type {Map<unknown, { at: number, source: string }>} */
  const last = new Map();
  /** @param {unknown} signal @param {string} source */
  const isCopy = (signal, source) => {
    const before = last.get(signal);
    const at = performance.now();
    if (before && at - before.at < (before.source === source ? repeatWindowMs : pairWindowMs)) return true;
    last.set(signal, { at, source });
    return false;
  };
  /** @param {string} event @param {unknown[]} rest */
  const emitOnce = (event, ...rest) => {
    if (stopSignals.some((signal) => signal === event) && isCopy(event, 'direct')) return true;
    return Reflect.apply(emit, process, [event, ...rest]);
  };
  process.emit = /** @type {typeof process.emit} */ (emitOnce);
  return {
    forward(signal) {
      if (isCopy(signal, 'launcher')) return;
      // Without a handler the default applies, as if the signal had come directly.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      else Reflect.apply(emit, process, [signal, signal, constants.signals[signal]]);
    },
    stopping: () => last.has('SIGINT') || last.has('SIGTERM'),
  };
}

/** @param {ReturnType<typeof countSignalsOnce>} signals */
function obeyLauncher(signals) {
  process.on('message', (/** @type {{ signal?: unknown } | null} */ message) => {
    const signal = stopSignals.find((known) => known === message?.signal);
    if (signal) signals.forward(signal);
  });
  // A killed launcher can forward nothing. The kill was meant for this process too.
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), disconnectGraceMs).unref();
    if (!signals.stopping()) signals.forward('SIGTERM');
  });
  // The channel alone must not keep the process alive.
  if (process.channel) process.channel.unref();
}

/**
 * Reads each folder and its package once. Node searches every parent folder for every module, half of the loading time.
 * Everything else, such as a missing file, takes Node's own path.
 */
function loadQuickly() {
  /** @type {Map<string, { files: Set<string>, type: unknown }>} `type`: what `package.json` says that scripts are */
  const folders = new Map();
  /** @param {string} href @returns {{ files: Set<string>, type: unknown }} */
  const folderAt = (href) => {
    const known = folders.get(href);
    if (known) return known;
    const files = new Set(filesIn(new URL(href)));
    const above = new URL('..', href).href;
    const type = files.has('package.json')
      ? JSON.parse(readFileSync(new URL('package.json', href), 'utf8')).type
      : above !== href && folderAt(above).type;
    const folder = { files, type };
    folders.set(href, folder);
    return folder;
  };
  nodeModule.registerHooks?.({
    resolve(specifier, context, nextResolve) {
      const script = /^\.\.?\/.*\.([jt])s$/.exec(specifier);
      if (script && context.parentURL?.startsWith('file:')) {
        const { href } = new URL(specifier, context.parentURL);
        const at = href.lastIndexOf('/') + 1;
        const { files, type } = folderAt(href.slice(0, at));
        if (files.has(href.slice(at)) && (type === 'module' || type === 'commonjs'))
          return {
            url: href,
            format: script[1] === 't' ? `${type}-typescript` : type,
            shortCircuit: true,
          };
      }
      return nextResolve(specifier, context);
    },
  });
}

/** @param {URL} folder the names of its files, without links to scripts; none where it cannot be listed */
function filesIn(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() || (entry.isSymbolicLink() && entry.name === 'package.json') ? entry.name : [],
    );
  } catch {
    return [];
  }
}

async function work() {
  const signals = countSignalsOnce();
  if (process.argv0 === workerName && process.channel) obeyLauncher(signals);
  // In the package's own folder: in the shared temporary folder others could plant code.
  nodeModule.enableCompileCache?.(join(root, 'node_modules', '.cache', 'counterfoil'));
  loadQuickly();
  const { limitHeap } = await import('./heap.js');
  limitHeap();
  const { main } = await import('./cli.ts');
  process.exitCode = await main(process.argv.slice(2));
}

const range = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node;
if (process.argv0 !== workerName && !runtimeSatisfies(range)) launch(range);
else {
  work().catch((error) => {
    if (error?.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).startsWith('Cannot find package')) {
      refuse(`${error.message.split('\n')[0]}; ${howToInstall()}`, 2);
    }
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exitCode = 1;
  });
}
