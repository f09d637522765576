import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../../app/app.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Logger } from '../../../core/runtime/logger.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Db, Ledger } from '../../../core/storage/ledger.ts';
import type { createActions } from './actions.ts';
import type { Drops } from './files/drops.ts';
import type { Forms } from './forms.ts';
import type { DashboardPage, View } from './frame.ts';
import type { LookDeps, Looks } from './look.ts';

export type DashboardDeps = Pick<LookDeps, 'findHalt' | 'findProblems' | 'findWaiting' | 'source'> & {
  ledger: Ledger;
  /** Reads without waiting for writers. */
  reader: Db;
  config: Pick<Config, 'mode' | 'banks' | 'intake' | 'reports' | 'schedules' | 'submission'>;
  clock: Clock;
  log: Logger;
  reports: string;
  /** What asks the service. `background`: work that goes on after its answer. */
  desk: { app: App; background(work: Promise<unknown>): void };
};

export type Shared = {
  deps: DashboardDeps;
  looks: Looks;
  forms: Forms;
  actions: ReturnType<typeof createActions>;
  drops: Drops;
  /** Sends a page with its headers. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: DashboardPage,
    status?: number,
  ): Promise<FastifyReply>;
  viewFor(request: FastifyRequest): Promise<View>;
  /** Throws a refusal that asks for a token where there is none, whatever the token may do. */
  requireToken(request: FastifyRequest): void;
};
