// Follows what happens into a table of SQLite, each event once: the row and the place to go on from are one.
// Use: COUNTERFOIL_URL=http://127.0.0.1:8788 COUNTERFOIL_TOKEN=… node follow-events.mjs events.db
// The token needs the role `read`. Stop it with Ctrl-C and start it again when you like: it goes on where it was.
import { DatabaseSync } from 'node:sqlite';
import { createClient } from 'counterfoil/client';

const { COUNTERFOIL_URL: url = '', COUNTERFOIL_TOKEN: token = '' } = process.env;
const db = new DatabaseSync(process.argv[2] ?? 'events.db');
db.exec(`create table if not exists events (
  number integer primary key, id text unique, cursor text, type text, at text, batch text, reference text, data text
)`);
const last = db.prepare('select cursor from events order by number desc limit 1').get();
const add = db.prepare(
  'insert into events (id, cursor, type, at, batch, reference, data) values (?, ?, ?, ?, ?, ?, ?)',
);

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
const from = typeof last?.cursor === 'string' ? { after: last.cursor } : {};
for await (const event of createClient({ url, token }).events({ ...from, signal: stop.signal })) {
  const { id, cursor, type, at, batch, reference, data } = event;
  add.run(id, cursor, type, at, batch, reference, JSON.stringify(data));
  console.log(`${at} ${type} ${reference ?? batch ?? ''}`);
}
