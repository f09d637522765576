import type { Traces } from '../../core/domain/trace.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { JobsStore } from '../../core/runtime/jobs.sql.ts';
import type { Logger } from '../../core/runtime/logger.ts';
import { sharedNow } from '../../core/runtime/rates.sql.ts';
import { scheduleList } from '../../core/settings/schedule-list.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import { machineOf } from '../../core/storage/machine.ts';
import { isSharedLedger } from '../../core/storage/place.ts';
import type { AlertChannel } from '../../core/storage/tables/alert-tables.ts';
import { findOn, type Scene, silenceOf } from '../../findings/finders.ts';
import { alertRules, type FindingKind, findingRules } from '../../findings/kinds.ts';
import { findSilence, markSilence } from '../../findings/silence.sql.ts';
import { applyChange, causesMark, moveWaits, standingAlerts } from './alerts.sql.ts';
import { alertChanges, type StandingAlert } from './changes.ts';
import type { SendMessage } from './channel.ts';
import { openChannels, wordChannels } from './channels.ts';
import { createDelivery } from './deliver.ts';
import { completeRun, findDigest, scheduledRun } from './digest.sql.ts';
import { type Content, noticesOf } from './message.ts';
import { stoppedWords } from './message-words.ts';
import { addMessages, channelsWithout, giveUpOthers } from './outbox.sql.ts';

/** A smaller difference between the clocks comes from the network or NTP (P33). */
const stepMs = 5000;
/** How long a process that has to stop waits for the other side. */
const lastWordsMs = 10_000;

export type Alerts = ReturnType<typeof createAlerts>;

/**
 * Who looks. `daemon`: it runs the schedules. `isQueueStuck`: what it knows of its queue. `service`: whether its requests
 * are answered; absent where it cannot tell.
 */
export type Viewer = { daemon: boolean } & Pick<Scene, 'isQueueStuck' | 'service'>;

type Deps = {
  ledger: Ledger;
  clock: Clock;
  config: Config;
  log: Pick<Logger, 'warn'>;
  jobsStore: Pick<JobsStore, 'all'>;
  /** This process's worker id, which its claims bear. */
  worker: string;
  traces?: Traces;
  /** The ways out; absent: those of the configuration. */
  channels?: Map<AlertChannel, SendMessage>;
};

/** Tells people what needs them: findings, an outbox in the ledger, and the channels. */
export function createAlerts(deps: Deps) {
  const { ledger, clock, config, jobsStore, channels = openChannels(config, deps.traces) } = deps;
  const names = [...channels.keys()];
  const machine = isSharedLedger(ledger.place) ? machineOf(ledger.path) : '';
  const addTo = wordChannels(names);
  let offset: number | null = null;

  /** P33: the alerts' waits go on as they were when the shared clock steps. Returns the time now. */
  async function followClock(): Promise<number> {
    const nowMs = await sharedNow(ledger.db, clock.now());
    const present = nowMs - clock.monotonic();
    const moved = offset === null ? 0 : present - offset;
    offset = present;
    if (Math.abs(moved) > stepMs)
      await ledger.write((trx) => moveWaits(trx, { at: new Date(nowMs).toISOString(), stepMs: moved }));
    return nowMs;
  }
  const seesFor =
    ({ daemon, service }: Viewer) =>
    ({ kind, subject }: Pick<StandingAlert, 'kind' | 'subject'>): boolean => {
      const isHere = subject === machine;
      return {
        all: true,
        daemon,
        machine: isHere,
        daemon_here: daemon && isHere,
        asker_here: service === 'answers' && isHere,
      }[alertRules[kind].faces.alerts.seenBy];
    };

  const sceneOf = (db: Db, { daemon, ...known }: Viewer): Scene & { face: 'alerts' } => ({
    face: 'alerts',
    ...{ db, ledger, clock, config, account: null, machine },
    work: daemon ? 'serve' : 'commands',
    jobs: scheduleList(config.schedules),
    ...known,
  });

  async function lookForAlerts(nowMs: number, viewer: Viewer): Promise<void> {
    const at = new Date(nowMs).toISOString();
    const sees = seesFor(viewer);
    const outside = await findOn(sceneOf(ledger.db, viewer), (kind) => isFor(viewer, kind, 'machine'));
    const find = async (db: Db) => {
      const inLedger = await findOn(sceneOf(db, viewer), (kind) => isFor(viewer, kind, 'ledger'));
      const watches = viewer.daemon && config.receiver.enabled;
      const mark = watches ? (await findSilence(db, silenceOf({ clock, config }))).mark : null;
      const all = [...inLedger, ...outside];
      return { mark, changes: alertChanges(all, await standingAlerts(db), { nowMs, sees }) };
    };
    const first = await find(ledger.db);
    if (first.changes.length === 0 && first.mark === null) return;
    // Looked at again inside: another process may have told it meanwhile, or its cause may have changed.
    await ledger.write(async (trx) => {
      const { changes, mark } = await find(trx);
      if (mark) await markSilence(trx, mark);
      for (const one of changes) await applyChange(trx, one, at);
      const notices = noticesOf(changes, at);
      if (notices.length > 0)
        await addMessages(trx, addTo, { content: { kind: 'notices', notices }, run: null, at });
    });
  }
  async function lookForRuns(nowMs: number): Promise<void> {
    const at = new Date(nowMs).toISOString();
    const add = async (
      own: readonly AlertChannel[],
      run: string | undefined,
      contentOf: (run: string) => Promise<Content | undefined>,
    ): Promise<void> => {
      if (run === undefined) return;
      const without = await channelsWithout(ledger.db, own, run);
      const content = without.length > 0 ? await contentOf(run) : undefined;
      if (content) await ledger.write((trx) => addMessages(trx, without, { content, run, at }));
    };
    const beats = names.filter((name) => name === 'heartbeat');
    if (addTo.length > 0)
      await add(addTo, scheduledRun(await jobsStore.all(), clock.now()), async (run) => {
        const digest = await findDigest(ledger.db, run, clock.iso());
        return digest && { kind: 'digest', digest };
      });
    if (beats.length > 0)
      await add(beats, await completeRun(ledger.db, clock.now()), async () => ({ kind: 'heartbeat' }));
  }
  return {
    /** Whether any channel is configured; without one nothing is looked at, noted or sent. */
    isOn: names.length > 0,
    /**
     * Looks at what is so now, and puts what people must be told into the outbox. `daemon`: this process runs the
     * schedules and the receiver, so it can judge them.
     */
    async look(viewer: Viewer): Promise<void> {
      if (names.length === 0) return;
      const nowMs = await followClock();
      if (addTo.length > 0) await lookForAlerts(nowMs, viewer);
      await lookForRuns(nowMs);
    },
    /** Changes whenever something is recorded that people must be told at once. One cheap read. */
    causes: (): Promise<string> => causesMark(ledger.db),
    deliver: createDelivery({ ...deps, channels }),
    /**
     * Says at once, past the outbox, that `serve` has to stop or to wait: the ledger may take no message any more. Never
     * throws.
     */
    async sayStopped(stop: { why: string; goesOn: boolean }): Promise<void> {
      const { timezone } = config.reports;
      const wording = stoppedWords(stop, config.mode, { timezone, dashboardUrl: config.alerts.dashboardUrl });
      const signal = AbortSignal.timeout(lastWordsMs);
      const id = `${ledger.id}.stopped.${clock.now()}`;
      await Promise.all(addTo.map(async (name) => channels.get(name)?.({ wording, id, signal })));
    },
    /** Gives up what waits for channels that are no longer configured. */
    forgetOthers: () => ledger.write((trx) => giveUpOthers(trx, names, clock.iso())),
  };
}

/** Whether this process looks for a kind. `ledger`: every process finds the same. `machine`: no transaction protects it. */
function isFor({ daemon }: Viewer, kind: FindingKind, where: 'ledger' | 'machine'): boolean {
  const seenBy = findingRules[kind].faces.alerts?.seenBy;
  if (!daemon && (seenBy === 'daemon' || seenBy === 'daemon_here')) return false;
  return (seenBy === 'all' || seenBy === 'daemon') === (where === 'ledger');
}
