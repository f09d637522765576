import { createHash } from 'node:crypto';
import { inject } from 'vitest';
import type { Place } from '../../../src/core/storage/place.ts';
import { databaseUrl, query, template } from './template.ts';

/** Databases that this file's tests made, the oldest first; more are not kept. */
const made: string[] = [];
const mostKept = 12;

/** The database that stands for a ledger file of this path; the same path is the same database, in every process. */
export async function placeFor(path: string | Place): Promise<Place> {
  if (typeof path !== 'string') return path;
  const server = inject('ledgerServer') ?? '';
  const name = `t_${createHash('sha256').update(path).digest('hex').slice(0, 20)}`;
  const place: Place = { kind: 'postgres', path, url: databaseUrl(server, name) };
  if (made.includes(name)) return place;
  await query(server, `create database ${name} template ${template} strategy file_copy`);
  made.push(name);
  if (made.length > mostKept) await dropOldest(server);
  return place;
}

/** One that is still in use is looked at again later: asked to drop it, the server would wait five seconds. */
async function dropOldest(server: string): Promise<void> {
  const oldest = made.shift() ?? '';
  const users = await query(server, `select 1 from pg_stat_activity where datname = '${oldest}'`);
  if (users.length > 0) made.push(oldest);
  else await query(server, `drop database if exists ${oldest}`).catch(() => void made.push(oldest));
}
