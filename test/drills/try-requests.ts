import { type DrillHome, token } from './home.ts';
import { rawRequest } from './raw-request.ts';
import { ours, portOf, refused, type Try } from './try.ts';

const form = 'content-type: application/x-www-form-urlencoded';

export async function posts(home: DrillHome): Promise<Try[]> {
  const body = 'sure=yes&form=AAAA';
  const length = `content-length: ${body.length}`;
  const ways: [what: string, line: string, headers: string[]][] = [
    [
      'post from another site, by its Referer alone',
      'POST /halt',
      [ours, form, length, 'referer: https://evil.example/'],
    ],
    [
      'post that a site sends as a navigation',
      'POST /halt',
      [ours, form, length, 'sec-fetch-site: cross-site'],
    ],
    ['method named in a header', 'GET /halt?sure=yes', [ours, 'x-http-method-override: POST']],
    ['method named in the query', 'GET /halt?_method=POST&sure=yes', [ours]],
    ['PUT', 'PUT /halt', [ours, form, length]],
    [
      'preflight of another site',
      'OPTIONS /halt',
      ['origin: https://evil.example', 'access-control-request-method: POST'],
    ],
    ['form in parts', 'POST /halt', [ours, 'content-type: multipart/form-data; boundary=x', length]],
    ['token in the query', 'POST /halt?token=x', [form, length]],
    ['token in a cookie', 'POST /halt', [form, length, `cookie: token=${token}`]],
  ];
  const tries: Try[] = [];
  for (const [what, line, given] of ways) {
    const sent = given.includes(length) ? body : '';
    const answer = await rawRequest(portOf(home), line, { headers: given, body: sent });
    const opens = answer.headers.includes('access-control-allow');
    tries.push({ ...refused(what, answer), isRefused: refused(what, answer).isRefused && !opens });
  }
  return tries;
}

export async function paths(home: DrillHome): Promise<Try[]> {
  const all = [
    '/reports/../outside.csv',
    '/reports/./../outside.csv',
    '/reports/%c0%ae%c0%ae/outside.csv',
    '/reports/..;/outside.csv',
    '/reports/%2e%2e%2foutside.csv?x=/reports/index.html',
    `http://127.0.0.1:${portOf(home)}/reports/../outside.csv`,
    '/reports\\..\\outside.csv',
    '/reports/%EF%BC%8E%EF%BC%8E/outside.csv',
    `/reports/${'a/'.repeat(4000)}../outside.csv`,
    '//outside.csv',
  ];
  const answers = await Promise.all(
    all.map((path) => rawRequest(portOf(home), `GET ${path}`, { headers: [ours] })),
  );
  return answers.map((answer, n) => refused(`path ${(all[n] ?? '').slice(0, 50)}`, answer));
}

export async function headers(home: DrillHome): Promise<Try[]> {
  const ways: [what: string, line: string, headers: string[]][] = [
    ['two Host headers', 'GET /', ['host: 127.0.0.1', 'host: evil.example']],
    ['Host with a bare line feed', 'GET /', ['host: 127.0.0.1\nx-forwarded-for: 127.0.0.1']],
    ['forwarded from loopback, by nobody we trust', 'GET /', ['x-forwarded-for: 127.0.0.1']],
    ['Forwarded (RFC 7239)', 'GET /', ['forwarded: for=127.0.0.1']],
    ['X-Real-IP', 'GET /', ['x-real-ip: 127.0.0.1']],
    ['two lengths', 'POST /halt', [ours, form, 'content-length: 8', 'content-length: 9']],
    ['length and chunks', 'POST /halt', [ours, form, 'content-length: 8', 'transfer-encoding: chunked']],
    ['folded header', 'GET /', ['authorization: Bearer\r\n x']],
    ['null byte in a header', 'GET /', ['x-name: a\0b']],
    ['64 KiB of headers', 'GET /', [`x-long: ${'a'.repeat(65_536)}`]],
  ];
  const tries: Try[] = [];
  for (const [what, line, given] of ways) {
    const body = line.startsWith('POST') ? 'sure=yes' : '';
    tries.push(refused(what, await rawRequest(portOf(home), line, { headers: given, body })));
  }
  return tries;
}
