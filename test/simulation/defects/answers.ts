import type { Defect } from './defect.ts';

/** What can be read wrongly into an answer, or the lack of one. */
export const answerDefects: readonly Defect[] = [
  {
    name: 'sends again after a 500',
    fault: '500 after acceptance',
    file: 'src/core/service/answer.ts',
    find: `rules.edgeRejections.includes(reply.httpStatus)`,
    replace: `(reply.httpStatus >= 500 || rules.edgeRejections.includes(reply.httpStatus))`,
  },
  {
    name: 'counts a 500 as not sent',
    fault: '500 after acceptance',
    file: 'src/core/service/client.ts',
    find: `      return judgeAnswer(answer, reference, options.rules);`,
    replace: `      if (status === 500) return { kind: 'not_sent', message: 'HTTP 500' };
      return judgeAnswer(answer, reference, options.rules);`,
  },
  {
    name: 'counts a time-out as not sent',
    fault: 'hang, taken',
    file: 'src/core/service/client.ts',
    find: `    if (!delivery.sent) return`,
    replace: `    if (!delivery.sent || delivery.timedOut) return`,
  },
  {
    name: 'counts a reset as not sent',
    fault: 'lost after acceptance',
    file: 'src/core/service/client.ts',
    find: `    if (!delivery.sent) return`,
    replace: `    if (!delivery.sent || !delivery.timedOut) return`,
  },
  {
    name: 'believes that an unknown has failed',
    fault: 'lost after acceptance',
    file: 'src/core/domain/transition.ts',
    find: `      return now.state === 'sending' ? move(now, 'unknown') : keep(now, 'one attempt ended unknown');`,
    replace: `      return now.state === 'sending' ? move(now, 'failed') : keep(now, 'one attempt ended unknown');`,
  },
  {
    name: 'reads a refusal into a code that nobody knows',
    fault: 'code 100',
    file: 'src/core/service/codes.ts',
    find: `'100': { class: 'unknown'`,
    replace: `'100': { class: 'refused'`,
  },
  {
    name: 'reads a refusal into a 401 page',
    fault: '401 page',
    file: 'src/core/service/answer.ts',
    find: `  if (!envelope) {`,
    replace: `  if (!envelope && (reply.httpStatus === 401 || reply.httpStatus === 403))
    return { kind: 'refused', code: '18', httpStatus: reply.httpStatus, message: 'refused', raw: reply.text };
  if (!envelope) {`,
  },
  {
    name: 'reads an acceptance into a success without our reference',
    fault: 'success without our reference',
    file: 'src/core/service/answer.ts',
    find: `  if (echo === null || !transferId)`,
    replace: `  if (reply.httpStatus === 0)`,
  },
  {
    name: 'reads an acceptance into an answer about another reference',
    fault: 'wrong echo',
    file: 'src/core/service/answer.ts',
    find: `  if (echo !== null && foldReference(echo) !== foldReference(reference))`,
    replace: `  if (echo !== null && reference === '')`,
  },
  {
    name: 'reads an acceptance into a success that contradicts its status',
    fault: 'success that contradicts its status',
    file: 'src/core/service/answer.ts',
    find: `  if (envelope.success !== (envelope.status === '00')) {`,
    replace: `  if (envelope.success && envelope.status !== '00')
    return { kind: 'accepted', transferId: '1', status: 'pending', httpStatus: 200, message, raw: reply.text };
  if (envelope.success !== (envelope.status === '00')) {`,
  },
  {
    name: 'lets a refusal of the second attempt speak for the first',
    from: 5,
    doubtful: true,
    fault: 'lost after acceptance',
    again: 'refused 24',
    file: 'src/core/domain/transition.ts',
    find: `      return move(now, now.otherAttemptOpen ? 'unknown' : 'refused', 'response');`,
    replace: `      return move(now, 'refused', 'response');`,
  },
  {
    name: 'lets a rejection of the second attempt speak for the first',
    from: 5,
    doubtful: true,
    fault: 'lost after acceptance',
    again: '429 with envelope',
    file: 'src/core/domain/transition.ts',
    find: `      return move(now, now.otherAttemptOpen ? 'unknown' : 'ready');`,
    replace: `      return move(now, 'ready');`,
  },
];
