import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, loadConfig, secretsOf } from '../../../src/core/settings/settings.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'counterfoil-config-'));
  mkdirSync(join(home, 'config'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const minimal = 'service: { base_url: "https://pay.example.com" }\n';
const write = (text: string): void => writeFileSync(join(home, 'config/counterfoil.yaml'), text);
const load = (env: Record<string, string> = {}, flags: { configFlag?: string; dataFlag?: string } = {}) =>
  loadConfig({ cwd: home, env, ...flags });
const good = (env: Record<string, string> = {}): Config => {
  const result = load(env);
  if (result.kind === 'problem') throw new Error(result.problems.join('\n'));
  return result.config;
};
const problems = (env: Record<string, string> = {}): string => {
  const result = load(env);
  return result.kind === 'problem' ? result.problems.join('\n') : '';
};

describe('configuration file', () => {
  it('tells to run init when there is no file', () => {
    rmSync(join(home, 'config'), { recursive: true });
    expect(problems()).toMatch(/^no configuration at .*counterfoil\.yaml$/);
    expect(load({})).toMatchObject({ advice: { kind: 'init' } });
  });

  it('needs nothing but base_url, and the example shows exactly the defaults', () => {
    write(minimal);
    const { configFile: _a, origins: _b, ...bare } = good();
    write(readFileSync(new URL('../../../config/counterfoil.example.yaml', import.meta.url), 'utf8'));
    const { configFile: _c, origins, ...example } = good();
    expect({ ...example, service: { ...example.service, baseUrl: bare.service.baseUrl } }).toEqual(bare);
    const left = Object.entries(origins).filter(([, origin]) => origin === 'default');
    expect(left.map(([name]) => name)).toEqual([]);
  });

  it('reads the bank codes of the service, and refuses a file that it cannot use', () => {
    write(`${minimal}intake: { banks_file: banks.csv }\n`);
    expect(problems()).toMatch(/^intake\.banks_file: .*banks\.csv: there is no such file$/);
    const list = (text: string | Buffer): string => {
      writeFileSync(join(home, 'banks.csv'), text);
      return problems();
    };
    expect(list('bank,name\n000013,GT\n')).toContain('expected a header with the columns code and name');
    expect(list('code,name\n')).toContain('it names no bank');
    expect(list('code,name\n13,GT\n')).toContain(
      'row 2: expected a code of 3 to 11 letters and digits, got "13"',
    );
    expect(list('code,name,aliases\n000013,GT,058\n000014,Access,058\n')).toContain(
      'row 3: 058 stands for two banks',
    );
    expect(list('code,name\n"000013,GT\n')).toContain('cannot be read (CSV_');
    expect(list(Buffer.from([0x63, 0xff]))).toContain('cannot be read');
    expect(list('\ufeffCode;Name\r\n000013;GT\r\n')).toBe('');
    expect(good().banks?.has('000013')).toBe(true);
  });

  it('takes the paths of extras, and refuses what is none', () => {
    write('service: { base_url: "https://h", extras: { balance: /wallet_balance } }\n');
    expect(good().service.extras).toEqual({ balance: 'wallet_balance', account_name: '' });
    write('service: { base_url: "https://h", extras: { ballance: wallet_balance } }\n');
    expect(problems()).toContain('service.extras.ballance: no such key; did you mean balance?');
    write('service: { base_url: "https://h", extras: { balance: "../bank_transfer" } }\n');
    expect(problems()).toContain('service.extras.balance: expected a path below /api/v1');
    write(minimal);
    const env = { COUNTERFOIL_SERVICE_EXTRAS: '{"account_name":"account_name"}' };
    expect(good(env).service.extras).toEqual({ balance: '', account_name: 'account_name' });
  });

  it('refuses two roles of one person, whatever the case of the name', () => {
    write(`${minimal}admin: { roles: { ada: [read], Ada: [decide] } }\n`);
    expect(problems()).toMatch(/admin\.roles.*: expected each person once/);
  });

  it('asks for base_url when it is missing', () => {
    write('');
    expect(problems()).toMatch(/^service\.base_url: required/);
  });

  it('refuses unknown keys by name with the nearest known one, all at once', () => {
    write('reciever: {}\nservice: { base_ulr: x, base_url: "https://pay.example.com" }\n');
    expect(problems()).toContain('service.base_ulr: no such key; did you mean base_url?');
    expect(problems()).toContain('reciever: no such key; did you mean receiver?');
  });

  it('names the key that an unknown one begins, and never leads a secret into the file', () => {
    write(
      'recon: {}\nCOUNTERFOIL_TEST_SECRET_KEY: sk\nservice: { secret_key: sk, signatur_key: auto, base_url: "https://h" }\n',
    );
    const secrets = 'secrets come only from the environment or .env';
    expect(problems()).toContain('recon: no such key; did you mean reconciliation?');
    expect(problems()).toContain(`COUNTERFOIL_TEST_SECRET_KEY: no such key; ${secrets}`);
    expect(problems()).toContain(`service.secret_key: no such key; ${secrets}`);
    expect(problems()).toContain('service.signatur_key: no such key; did you mean signature_key?');
    write(minimal);
    expect(problems({ COUNTERFOIL_SERVICE_SECRET_KEY: 'sk' })).toContain(
      `COUNTERFOIL_SERVICE_SECRET_KEY: no such setting; ${secrets}`,
    );
  });

  it('shows how a list and a map are written, with the value that was given, and where the YAML is wrong', () => {
    write(minimal);
    const text = problems({
      COUNTERFOIL_RECEIVER_ALLOW_FROM: '10.0.0.1, 10.0.0.2',
      COUNTERFOIL_SERVICE_EDGE_REJECTIONS: '429',
      COUNTERFOIL_SERVICE_CODES: '25',
    });
    expect(text).toContain(
      'receiver.allow_from (from COUNTERFOIL_RECEIVER_ALLOW_FROM): expected a list as JSON, such as ["10.0.0.1","10.0.0.2"], got "10.0.0.1, 10.0.0.2"',
    );
    expect(text).toContain('expected a list as JSON, such as [429], got 429');
    expect(text).toContain(
      'expected a map as JSON, such as {"NGN": "5000000.00"} or {"25": "unknown"}, got 25',
    );
    write(`${minimal}receiver: { allow_from: 10.0.0.1 }\n`);
    expect(problems()).toContain('receiver.allow_from: expected a list, such as ["10.0.0.1"]');
    write('a: b: c');
    expect(problems()).toMatch(/not valid YAML: .* at line 1, column \d+$/);
  });

  it.each([
    'http://pay.example.com',
    'ftp://127.0.0.1',
    'https://user:pw@pay.example.com',
    'pay.example.com',
    'http://127.0.0.1.evil.com',
  ])('refuses the address %s and shows no password', (url) => {
    write(`service: { base_url: "${url}" }`);
    expect(problems()).toMatch(/^service\.base_url/);
    expect(problems()).not.toContain(':pw@');
  });

  it.each(['http://127.0.0.1:9', 'http://localhost:9', 'http://[::1]:9'])(
    'takes plain HTTP for loopback: %s',
    (url) => {
      write(`service: { base_url: "${url}/" }`);
      expect(good().service.baseUrl).toBe(url);
    },
  );

  it.each([
    ['alerts: { webhook_url: "http://example.com/x" }', 'expected an https address'],
    ['alerts: { mail_to: [a@b.c] }', 'expected the mail server'],
  ])('refuses a channel of alerts that could not be used: %s', (text, why) => {
    write(minimal + text);
    expect(problems()).toContain(why);
  });

  it.each([
    ['sqlite:books.db', 'data/books.db'],
    ['postgres://user@db/books', 'data/ledger.postgres'],
    ['postgresql://user:pw@db:5432/books?sslmode=require&schema=payroll', 'data/ledger.postgres'],
  ])('takes the ledger %s', (url, file) => {
    write(`${minimal}ledger: { url: "${url}" }`);
    expect(good().ledgerFile).toBe(join(home, file));
  });

  it('refuses an alias inside its own anchor in a sentence, where it crashed', () => {
    write('service: &s { base_url: *s }');
    expect(problems()).toContain('an alias stands inside its own anchor');
  });

  it.each([
    'books.db',
    'sqlite::memory:',
    'postgres://db',
    'postgres://db/a/b',
    'postgres://db/a?schema=A-b',
  ])('refuses the ledger %s', (url) => {
    write(`${minimal}ledger: { url: "${url}" }`);
    expect(problems()).toContain('ledger.url: expected sqlite:FILE, or postgres://');
  });

  it('places ledger.backup_dir under the data folder, and refuses it for a ledger on PostgreSQL', () => {
    write(`${minimal}ledger: { backup_dir: backups }`);
    expect(good().ledger.backupDir).toBe(join(home, 'data/backups'));
    write(`${minimal}ledger: { url: "postgres://user@db/books", backup_dir: backups }`);
    expect(problems()).toContain('ledger.backup_dir: expected nothing');
  });

  it.each([
    'redis://cache',
    'redis://:pw@cache:6379/3',
    'rediss://user:pw@cache.example.com',
    'postgres://user@db/queue',
    'postgresql://user:pw@db:5432/queue?sslmode=require',
    'postgres:///queue?host=/var/run/postgresql&user=worker',
    'inline',
  ])('takes the queue %s', (url) => {
    write(`${minimal}queue: { url: "${url}" }`);
    expect(good().queue.url).toBe(url);
  });

  it.each(['redis', 'redis://', 'redis://:pw@cache/jobs', 'postgres://user:pw@db', 'amqp://user:pw@mq/jobs'])(
    'refuses the queue %s and shows no password',
    (url) => {
      write(`${minimal}queue: { url: "${url}" }`);
      expect(problems()).toMatch(/^queue\.url: expected inline, or an address/);
      expect(problems()).not.toContain('pw@');
    },
  );

  it('wants both files of the receiver certificate or neither, and finds them from home', () => {
    for (const [given, other] of [
      ['tls_cert', 'tls_key'],
      ['tls_key', 'tls_cert'],
    ]) {
      write(`${minimal}receiver: { ${given}: a.pem }`);
      expect(problems()).toContain(`receiver.${other}: expected a file, since ${given} is set`);
    }
    write(`${minimal}receiver: { tls_cert: tls/a.pem, tls_key: /k.pem }`);
    expect(good().receiver).toMatchObject({ tlsCert: join(home, 'tls/a.pem'), tlsKey: '/k.pem' });
  });

  it('warns that webhooks would come in the clear, unless there is a certificate or a proxy', () => {
    write(`${minimal}receiver: { host: 0.0.0.0 }`);
    expect(good().warnings.join()).toContain('receiver.host 0.0.0.0');
    write(`${minimal}receiver: { host: 0.0.0.0, trust_proxy: [10.0.0.2] }`);
    expect(good().warnings).toEqual([]);
  });

  it.each(['"25": refused', '"25": accepted', '"1": halt'])('P10: refuses the code override %s', (entry) => {
    write(`service: { base_url: "https://pay.example.com", codes: { ${entry} } }`);
    expect(problems()).toContain('service.codes');
  });

  it('says to write a status code in quotes, where YAML has read it as a number', () => {
    write('service: { base_url: "https://pay.example.com", codes: { 03: halt } }');
    expect(problems()).toContain('service.codes.3: a status code has two or three digits, in quotes: "03"');
  });

  it('asks a server for approvals only over TLS, signed, and where approval says so', () => {
    const url = 'https://pay.example.com/approve/t0ken';
    const secret = { COUNTERFOIL_EVENTS_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}` };
    const given = (text: string): void => write(`${minimal}submission: { ${text} }`);
    given('approval: callback');
    expect(problems(secret)).toContain('submission.approval_url: expected the address of the server');
    given('approval: callback, approval_url: "http://pay.example.com/"');
    expect(problems(secret)).toContain('expected an https address (http only for loopback)');
    given(`approval: callback, approval_url: "${url}"`);
    expect(problems()).toContain('submission.approval_url is set: set COUNTERFOIL_EVENTS_SECRET');
    expect(problems({ COUNTERFOIL_EVENTS_SECRET: 'whsec_c2hvcnQ=' })).toContain(
      'expected whsec_ and 24 to 64',
    );
    expect(good(secret).submission).toMatchObject({ approval: 'callback', approvalUrl: url });
    expect(secretsOf(good(secret))).toEqual(
      expect.arrayContaining(['/approve/t0ken', ...Object.values(secret)]),
    );
    given(`approval: always, approval_url: "${url}"`);
    expect(good(secret).warnings.join()).toContain('submission.approval_url has no effect');
  });

  it('honours payout_limit and refuses digits its currency does not have', () => {
    write(`${minimal}submission: { payout_limit: { NGN: "5000000.00" } }`);
    expect(good().submission.payoutLimit).toEqual({ NGN: '5000000.00' });
    write(`${minimal}submission: { payout_limit: { NGN: "1.005", XXQ: "1" } }`);
    expect(problems()).toContain('submission.payout_limit.NGN');
    expect(problems()).toContain('submission.payout_limit.XXQ');
  });

  it.each([
    'schedules: { submit: "every minute" }',
    'reports: { timezone: Lagos }',
    'receiver: { allow_from: ["10.0.0.0/99"] }',
    'reconciliation: { since: 2026-11-01 }',
    'reconciliation: { since: "2026-02-30T00:00:00Z" }',
    'service: [1]',
    'a: [',
  ])('refuses the value in %s', (text) => {
    write(text.startsWith('service') ? text : minimal + text);
    expect(problems()).not.toBe('');
  });
});

describe('environment', () => {
  it('overrides numbers, booleans, maps and lists, and says where each came from', () => {
    write(minimal);
    const config = good({
      COUNTERFOIL_MODE: 'live',
      COUNTERFOIL_SERVICE_CONCURRENCY: '3',
      COUNTERFOIL_RECEIVER_ENABLED: 'false',
      COUNTERFOIL_SERVICE_CODES: '{"25":"unknown"}',
      COUNTERFOIL_SERVICE_EDGE_REJECTIONS: '[403]',
      COUNTERFOIL_SCHEDULES_SUBMIT: '',
    });
    expect(config).toMatchObject({
      mode: 'live',
      service: { concurrency: 3, codes: { 25: 'unknown' }, edgeRejections: [403] },
      receiver: { enabled: false },
      schedules: { submit: '' },
    });
    expect(config.origins['service.concurrency']).toBe('COUNTERFOIL_SERVICE_CONCURRENCY');
  });

  it('refuses a misspelt variable and names the variable whose value is wrong', () => {
    write(minimal);
    const text = problems({ COUNTERFOIL_SERVICE_TIMEOUT: '5', COUNTERFOIL_SERVICE_CONCURRENCY: 'many' });
    expect(text).toContain(
      'COUNTERFOIL_SERVICE_TIMEOUT: no such setting; did you mean COUNTERFOIL_SERVICE_TIMEOUT_MS?',
    );
    expect(text).toContain('service.concurrency (from COUNTERFOIL_SERVICE_CONCURRENCY)');
  });

  it('takes secrets from .env, a named file and the environment, which wins; a comma rotates', () => {
    write(minimal);
    writeFileSync(
      join(home, '.env'),
      'COUNTERFOIL_TEST_SECRET_KEY=sk_test_a\nCOUNTERFOIL_TEST_PUBLIC_KEY="pk_test_a"\n',
      { mode: 0o600 },
    );
    writeFileSync(join(home, 'enc'), 'enc_test_new, enc_test_old\n');
    const config = good({
      COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_b',
      COUNTERFOIL_TEST_ENCRYPTION_KEY_FILE: 'enc',
    });
    expect(config.keys).toEqual({
      test: {
        secretKeys: ['sk_test_b'],
        publicKeys: ['pk_test_a'],
        encryptionKeys: ['enc_test_new', 'enc_test_old'],
        webhookKeys: [],
      },
    });
    expect(config.warnings).toEqual([]);
    chmodSync(join(home, '.env'), 0o644);
    expect(good().warnings.join()).toContain('chmod 600');
  });

  it('P24: refuses a key whose prefix contradicts its mode, without showing it', () => {
    write(minimal);
    const text = problems({
      COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_ok,sk_live_abc',
      COUNTERFOIL_LIVE_PUBLIC_KEY: 'pk_test_abc',
    });
    expect(text).toContain('COUNTERFOIL_TEST_SECRET_KEY: this is a live key');
    expect(text).toContain('COUNTERFOIL_LIVE_PUBLIC_KEY: this is a test key');
    expect(text).not.toContain('_abc');
  });

  it('finds home beside config/, or in the folder of a file that lies elsewhere', () => {
    write(minimal);
    expect(good()).toMatchObject({
      home,
      dataDir: join(home, 'data'),
      ledgerFile: join(home, 'data/ledger.db'),
    });
    writeFileSync(join(home, 'other.yaml'), minimal);
    const other = loadConfig({
      cwd: '/',
      env: { COUNTERFOIL_CONFIG: join(home, 'other.yaml') },
      dataFlag: join(home, 'd'),
    });
    expect(other).toMatchObject({ kind: 'ok', config: { home, dataDir: join(home, 'd') } });
  });
});
