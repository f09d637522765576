import { expect, it } from 'vitest';
import { type ApprovalQuestion, askServer } from '../../../src/faces/callback/approval-question.ts';
import { type Answering, no, secret, signed, startApprover, yes } from './approving-server.ts';

const minuteMs = 60_000;
const other = 'f'.repeat(64);
const question: ApprovalQuestion = {
  batch: 'november-1',
  digest: 'a'.repeat(64),
  file: 'november.csv',
  rows: 2,
  totals: { NGN: '2004.00' },
  dropped_by: 'alice',
  hold_reasons: ['approval'],
  asked_at: '2026-11-21T10:00:00.000Z',
};

async function ask(answer: Answering, signal = new AbortController().signal) {
  const server = await startApprover(answer);
  const asked = await askServer(question, {
    url: server.url,
    secret,
    id: 'approval_1',
    now: Date.now,
    signal,
  });
  return { asked, times: server.asked.length };
}

it('believes a signed answer to this very question', async () => {
  expect((await ask(yes)).asked).toEqual({ kind: 'yes' });
  expect((await ask(no)).asked).toEqual({ kind: 'no', reason: 'the wrong month' });
  const inFourMinutes = { at: new Date(Date.now() + 4 * minuteMs) };
  const late: Answering = (asked) => signed({ answer: 'yes', digest: question.digest }, asked, inFourMinutes);
  expect((await ask(late)).asked).toEqual({ kind: 'yes' });
});

it('believes one right signature among others, as when a secret changes', async () => {
  const several: Answering = async (asked) => {
    const reply = await yes(asked);
    if (reply === 'silence') return reply;
    const given = reply.headers?.['webhook-signature'];
    return { ...reply, headers: { ...reply.headers, 'webhook-signature': `v1,AAAA v1a,x ${given}` } };
  };
  expect((await ask(several)).asked).toEqual({ kind: 'yes' });
});

it('keeps no more than the beginning of a reason', async () => {
  const { asked } = await ask((one) => signed({ answer: 'no', reason: 'x'.repeat(5000) }, one));
  expect(asked).toEqual({ kind: 'no', reason: 'x'.repeat(1000) });
});

type Case = [string, string, Answering];
it.each<Case>([
  ['later', 'later', (asked) => signed({ answer: 'later' }, asked)],
  [
    'an unsigned yes',
    'unsigned',
    ({ question: { digest } }) => ({ body: JSON.stringify({ answer: 'yes', digest }) }),
  ],
  [
    'a yes signed with another secret',
    'unsigned',
    (asked) =>
      signed({ answer: 'yes', digest: asked.question.digest }, asked, {
        secret: `whsec_${btoa('x'.repeat(32))}`,
      }),
  ],
  [
    'a yes whose body was changed',
    'unsigned',
    (asked) => {
      const reply = signed({ answer: 'no' }, asked);
      return {
        ...(reply as object),
        body: JSON.stringify({ answer: 'yes', digest: asked.question.digest }),
      };
    },
  ],
  [
    'a no whose body was changed',
    'unsigned',
    (asked) => {
      const reply = signed({ answer: 'later' }, asked);
      return { ...(reply as object), body: JSON.stringify({ answer: 'no' }) };
    },
  ],
  [
    'an answer to another question',
    'other_id',
    (asked) => signed({ answer: 'yes', digest: asked.question.digest }, asked, { id: 'approval_other' }),
  ],
  [
    'a yes of ten minutes ago',
    'untimely',
    (asked) =>
      signed({ answer: 'yes', digest: asked.question.digest }, asked, {
        at: new Date(Date.now() - 10 * minuteMs),
      }),
  ],
  [
    'a yes of the time to come',
    'untimely',
    (asked) =>
      signed({ answer: 'yes', digest: asked.question.digest }, asked, {
        at: new Date(Date.now() + 10 * minuteMs),
      }),
  ],
  ['a yes to another digest', 'other_digest', (asked) => signed({ answer: 'yes', digest: other }, asked)],
  ['a no to another digest', 'other_digest', (asked) => signed({ answer: 'no', digest: other }, asked)],
  ['a yes to no digest', 'other_digest', (asked) => signed({ answer: 'yes' }, asked)],
  ['the question sent back', 'unreadable', (asked) => signed(asked.body, asked)],
  ['another word', 'unreadable', (asked) => signed({ answer: 'YES', digest: asked.question.digest }, asked)],
  ['no JSON', 'unreadable', (asked) => signed('yes', asked)],
  ['no text', 'unsigned', () => ({ body: '' })],
  [
    'a long answer',
    'unreadable',
    (asked) => signed({ answer: 'yes', digest: asked.question.digest, reason: 'x'.repeat(20_000) }, asked),
  ],
  [
    'an error',
    'http_500',
    (asked) => ({ ...(signed({ answer: 'no' }, asked) as { body: string }), status: 500 }),
  ],
  [
    'another success',
    'http_202',
    (asked) => ({
      ...(signed({ answer: 'yes', digest: asked.question.digest }, asked) as { body: string }),
      status: 202,
    }),
  ],
  ['a redirect', 'http_307', () => ({ status: 307, headers: { location: '/elsewhere' }, body: '' })],
])('does not take %s for an answer: %s', async (_, problem, answer) => {
  expect(await ask(answer)).toEqual({ asked: { kind: 'none', problem }, times: 1 });
});

it('stops at once while a server says nothing', async () => {
  const stopping = new AbortController();
  setTimeout(() => stopping.abort(), 50);
  expect((await ask(() => 'silence', stopping.signal)).asked).toEqual({ kind: 'none', problem: 'stopped' });
});
