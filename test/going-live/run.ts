import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { blocksOf } from '../../config/docs/blocks.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { findProgram } from '../support/server-process.ts';
import { checks, notRun, wanted } from './checks.ts';
import { bootMachine, type Machine } from './machine.ts';

/**
 * `npm run prove:going-live [-- FROM]`: runs the commands of docs/going-live.md as they stand, then those of
 * docs/operations.md that are marked for it, on an empty Debian that systemd boots in a container. FROM: a folder that
 * debootstrap filled before, or the name of a Debian (bookworm). Real: systemd, its units, accounts, credentials and
 * sandboxing, nginx, Prometheus, the package. Not real: `notRun` in checks.ts. The keys come from a pipe.
 * VERBOSE=1 shows what each command prints.
 */

const pages = ['docs/going-live.md', 'docs/operations.md'];
const mark = 'prove:going-live runs it';
/** Of nginx, the receivers, the admin servers and Prometheus: the container shares this machine's network. */
const ports = [80, 443, 8787, 8788, 8797, 8798, 9090];

type Step = { command: string; place: string; prints: RegExp | undefined; says?: string };

/** Why it cannot run here; null where it can. */
async function missing(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'it needs root';
  const absent = ['debootstrap', 'systemd-nspawn', 'nsenter'].filter((name) => !findProgram(name));
  if (absent.length > 0) return `no ${absent.join(', ')}: apt-get install debootstrap systemd-container`;
  const free = await Promise.all(ports.map(isFree));
  const taken = ports.filter((_, index) => !free[index]);
  return taken.length > 0 ? `these ports are taken: ${taken.join(', ')}` : null;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The commands of the pages in order, each followed by the checks that belong to it. */
function stepsOfPages(): Step[] {
  const asStep = ({ says, command, prints }: (typeof checks)[number]): Step => ({
    command,
    place: 'test/going-live/checks.ts',
    prints,
    says,
  });
  const shown = pages.flatMap((page) =>
    blocksOf(page, readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8'))
      .filter(({ run }) => run.kind === 'not_run' && run.reason === mark)
      .flatMap(({ line, steps }) => steps.map(({ command }) => ({ command, place: `${page}:${line}` }))),
  );
  const real = shown.filter(({ command }) => !/^(SERVICE|NAME)=/.test(command));
  const ofPages = real.flatMap((step): Step[] => [
    { ...step, prints: wanted.find(([of]) => of.test(step.command))?.[1] },
    ...checks.filter(({ after }) => after?.test(step.command)).map(asStep),
  ]);
  return [...ofPages, ...checks.filter(({ after }) => !after).map(asStep)];
}

/** Runs the steps until one fails; returns how many passed. */
async function runSteps(
  steps: Step[],
  machine: Machine,
  sandbox: Awaited<ReturnType<typeof createSandbox>>,
): Promise<number> {
  const keys = sandbox.keys.test;
  let made = 0;
  /** What a person pastes: our secret key, and each time a new webhook key before the one of now. */
  const pasted = (command: string): string => {
    if (/secret_key\)?$/.test(command)) return `${keys.secretKey}\n`;
    if (!/webhook_key\)?$/.test(command)) return '';
    if (command.includes('/acme/')) return `${keys.webhookKey}\n`;
    const old = keys.webhookKey;
    keys.webhookKey = `webhook-key-${++made}`;
    return `${keys.webhookKey}${old === undefined ? '' : `,${old}`}\n`;
  };
  for (const [passed, { command, place, prints, says }] of steps.entries()) {
    const began = performance.now();
    const { status, printed } = await machine.run(
      `SERVICE=${sandbox.url}\nNAME=localhost\n${command}`,
      pasted(command),
    );
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
    const isFine = status === 0 && (!prints || prints.test(printed));
    process.stdout.write(`${isFine ? 'ok  ' : 'FAIL'} ${seconds} s  ${says ? `(check) ${says}` : command}\n`);
    if (process.env.VERBOSE || !isFine)
      process.stdout.write(`    ${printed.split('\n').slice(-40).join('\n    ')}\n`);
    if (!isFine) {
      process.stdout.write(`${place}: ${status === 0 ? `it does not print ${prints}` : `exit ${status}`}\n`);
      return passed;
    }
    // The service is given the address of our webhooks: from here on they come through nginx.
    if (command.includes('--request POST')) {
      setDefaultCACertificates([...getCACertificates('default'), machine.read('etc/ssl/localhost.pem')]);
      sandbox.setWebhookUrl('https://localhost/webhooks/test');
    }
  }
  return steps.length;
}

async function prove(): Promise<number> {
  const steps = stepsOfPages();
  const sandbox = await createSandbox({ settleMs: 100 });
  let machine: Machine | undefined;
  let passed = 0;
  try {
    machine = await bootMachine(process.argv[2] ?? 'bookworm');
    const { printed } = await machine.run(
      '. /etc/os-release; echo "$PRETTY_NAME, $(systemctl --version | head -1)"',
    );
    process.stdout.write(`${printed}: booted in a container, everything below runs in it\n`);
    passed = await runSteps(steps, machine, sandbox);
  } catch (error) {
    process.stdout.write(`FAIL the machine: ${error instanceof Error ? error.message : String(error)}\n`);
  } finally {
    await machine?.stop();
    await sandbox.stop();
  }
  for (const { says, command } of steps.slice(passed + 1))
    process.stdout.write(`not run, since another failed before it: ${says ?? command}\n`);
  for (const reason of notRun) process.stdout.write(`not run: ${reason}\n`);
  const skipped = notRun.length + Math.max(0, steps.length - passed - 1);
  process.stdout.write(`${passed} passed, ${passed < steps.length ? 1 : 0} failed, ${skipped} skipped\n`);
  return passed < steps.length ? 1 : 0;
}

const why = await missing();
if (why !== null) process.stdout.write(`not run: ${why}\n0 passed, 0 failed, 1 skipped\n`);
else process.exitCode = await prove();
