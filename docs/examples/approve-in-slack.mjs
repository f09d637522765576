// Posts each held batch to a Slack webhook with a link, and approves it when an operator answers with a signature.
// Use: node approve-in-slack.mjs, with the variables below. The token needs the roles `read` and `approve`, and must not
// be the one that drops files: Counterfoil asks for a second person.
// The link leads to LINK_URL, your own page behind your own sign-in. It posts to /answer here:
//   {"batch": …, "digest": …, "answer": "yes", "at": ISO time}, with X-Signature: hex HMAC-SHA256 of the body with SECRET.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { createClient } from 'counterfoil/client';

const { COUNTERFOIL_URL: url = '', COUNTERFOIL_TOKEN: token = '', PORT = '8790' } = process.env;
const { SLACK_WEBHOOK_URL: slack = '', LINK_URL: link = '', SECRET: secret = '' } = process.env;
if (secret.length < 32) throw new Error('SECRET needs 32 characters at least');
const client = createClient({ url, token });

const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) {
    body += piece;
    if (body.length > 10_000) return response.writeHead(413).end();
  }
  const wanted = createHmac('sha256', secret).update(body).digest();
  const given = Buffer.from(String(request.headers['x-signature'] ?? ''), 'hex');
  const isSigned = given.length === wanted.length && timingSafeEqual(given, wanted);
  if (request.method !== 'POST' || request.url !== '/answer' || !isSigned) return response.writeHead(401).end();
  try {
    const { batch, digest, answer, at } = JSON.parse(body);
    // An old answer that somebody sends again is none. The digest is what the operator saw: a batch that changed is refused.
    if (answer !== 'yes' || !(Math.abs(Date.now() - Date.parse(at)) < 300_000)) return response.writeHead(400).end();
    const { approved_by: by, released } = await client.approveBatch({ batch, digest });
    response.writeHead(200).end(`approved by ${by}: ${released} payouts may go\n`);
  } catch (error) {
    response.writeHead(409).end(`${error instanceof Error ? error.message : error}\n`);
  }
});
server.listen(Number(PORT), '127.0.0.1');

// From the oldest event that is kept: a batch that waited before this program began is posted too.
for await (const event of client.events()) {
  if (event.type !== 'batch.held' || event.batch === null) continue;
  const { state, digest, rows, totals, dropped_by } = await client.getBatch({ batch: event.batch });
  if (state !== 'held' || digest === null) continue;
  const sums = Object.entries(totals).map(([currency, amount]) => `${currency} ${amount}`);
  const page = `${link}?${new URLSearchParams({ batch: event.batch, digest })}`;
  const text = `${event.batch} by ${dropped_by}: ${rows} payouts, ${sums.join(', ')}. <${page}|Look and approve>`;
  await fetch(slack, { method: 'POST', body: JSON.stringify({ text }) });
  console.log(`posted ${event.batch}`);
}
