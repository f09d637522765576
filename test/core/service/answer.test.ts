import { describe, expect, it } from 'vitest';
import { type AnswerRules, judgeAnswer } from '../../../src/core/service/answer.ts';

const reference = 'ACME-1';
const rules: AnswerRules = { codes: {}, edgeRejections: [429] };
const data = { transfer_id: '481', reference, status: 'pending' };
const yes = { success: true, status: '00', message: 'ok', data };
const no = (status: string, more: object = {}) => ({ success: false, status, message: 'no', ...more });
const html = '<html><body>Bad Gateway</body></html>';

function judge(
  httpStatus: number,
  body: unknown,
  own: AnswerRules = rules,
  retryAfterMs: number | null = null,
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return judgeAnswer({ httpStatus, text, retryAfterMs }, reference, own);
}

describe('what a reply proves', () => {
  const cases: [string, number, unknown, string][] = [
    ['P5: a complete success', 200, yes, 'accepted'],
    ['P5: another 2xx', 201, yes, 'accepted'],
    [
      'P22: our reference in other letters',
      200,
      { ...yes, data: { ...data, reference: 'acme-1' } },
      'accepted',
    ],
    ['P5: success without a transfer id', 200, { ...yes, data: { reference } }, 'unknown'],
    ['P5: success without our reference', 200, { ...yes, data: { transfer_id: '481' } }, 'unknown'],
    ['P5: success without data', 200, { success: true, status: '00', message: 'ok' }, 'unknown'],
    ['P5: success with HTTP 302', 302, yes, 'unknown'],
    ['P5: success with HTTP 400', 400, yes, 'unknown'],
    ['P5: success with HTTP 500', 500, yes, 'unknown'],
    ['P6: refused, our reference echoed', 400, no('24', { data: { reference } }), 'refused'],
    ['P6: refused, none echoed', 400, no('02'), 'refused'],
    ['P6: refused with HTTP 200', 200, no('07'), 'refused'],
    ['P6: a refusing code with HTTP 500', 500, no('24'), 'unknown'],
    ['P6: refused, another reference', 400, no('24', { data: { reference: 'ACME-2' } }), 'unknown'],
    ['P6: success true with status 09', 200, { ...yes, status: '09' }, 'unknown'],
    ['P6: success false with status 00', 200, { ...yes, success: false }, 'unknown'],
    ['P6: success false with status 00 and 429', 429, { ...yes, success: false }, 'unknown'],
    ['P8: success of another reference', 200, { ...yes, data: { ...data, reference: 'X' } }, 'unknown'],
    ['P8: an edge page', 502, html, 'unknown'],
    ['P8: an html page with 200', 200, html, 'unknown'],
    ['P8: an html page with 400', 400, html, 'unknown'],
    ['P8: nothing at all', 200, '', 'unknown'],
    ['P8: a JSON array', 200, '[]', 'unknown'],
    ['P8: cut off JSON', 200, JSON.stringify(yes).slice(0, -1), 'unknown'],
    ['P8: 401 without the envelope', 401, html, 'unknown'],
    ['P8: 403 without the envelope', 403, html, 'unknown'],
    ['P8: 403 with foreign JSON', 403, { error: 'forbidden' }, 'unknown'],
    ['P8: 429 without the envelope, an edge rejection', 429, html, 'turned_away'],
    ['P8: 429 with the envelope', 429, no('11'), 'turned_away'],
    ['P8: 429 about another reference', 429, no('11', { data: { reference: 'X' } }), 'unknown'],
    ['P8: 429 that claims success', 429, yes, 'unknown'],
    ['P10: a code nobody knows', 400, no('77'), 'unknown'],
  ];
  it.each(cases)('%s (HTTP %i)', (_name, status, body, kind) => {
    expect(judge(status, body).kind).toBe(kind);
  });
});

it('P5: the accepted answer keeps the transfer id, a number without losing a digit', () => {
  expect(judge(200, yes)).toMatchObject({ kind: 'accepted', transferId: '481', status: 'pending' });
  const text = JSON.stringify(yes).replace('"481"', '90071992547409931');
  expect(judge(200, text)).toMatchObject({ kind: 'accepted', transferId: '90071992547409931' });
});

it('P8: edge rejections are only those that are configured', () => {
  const none: AnswerRules = { codes: {}, edgeRejections: [] };
  expect(judge(429, html, none).kind).toBe('unknown');
  expect(judge(403, html, { codes: {}, edgeRejections: [403, 429] }).kind).toBe('turned_away');
});

it('P8: Retry-After is handed on with a rejection', () => {
  expect(judge(429, no('11'), rules, 7000)).toMatchObject({
    kind: 'turned_away',
    retryAfterMs: 7000,
    code: '11',
  });
});

it('P10: the table is total over the 100 two-digit codes and 100', () => {
  const refused = ['01', '02', '07', '24', '25'];
  const halts = ['10', '13', ...[15, 16, 17, 18, 19, 20, 21, 22, 23].map(String)];
  const codes = Array.from({ length: 101 }, (_, n) => String(n).padStart(2, '0')).filter((c) => c !== '00');
  for (const code of codes) {
    const judged = judge(400, no(code));
    expect(judged.kind, code).toBe(refused.includes(code) ? 'refused' : 'unknown');
    if (judged.kind === 'unknown') expect(judged.halts, code).toBe(halts.includes(code));
  }
});

it('P10: an override moves a code towards unknown or halt', () => {
  const own: AnswerRules = { codes: { '24': 'unknown', '25': 'halt' }, edgeRejections: [] };
  expect(judge(400, no('24'), own)).toMatchObject({ kind: 'unknown', halts: false });
  expect(judge(400, no('25'), own)).toMatchObject({ kind: 'unknown', halts: true });
});
