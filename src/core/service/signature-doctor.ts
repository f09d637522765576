import { createHash } from 'node:crypto';
import { canonicalBody } from '../domain/body.ts';
import { signatureVectors } from './signature-vectors.ts';
import { type KeyName, keyNameOf, signBody } from './signing.ts';

/** The keys of one mode that may have made a Signature. The first of each kind signs; the others only verify. */
export type CandidateKeys = { secretKeys: readonly string[]; encryptionKeys: readonly string[] };

/** A digest as people may see it: enough to compare, nothing of the key. */
export type ShownDigest = { first: string; last: string };

export type Combination = {
  key: string;
  form: string;
  signature: ShownDigest;
  /** The setting that makes this program send it; null where it cannot. */
  setting: string | null;
};

export type SignatureFacts = {
  /** SHA-256 of the text that was signed, unmasked, in hexadecimal. */
  sha256: string;
  signature: ShownDigest;
  /** The names of the key that signs and of the key that is the Bearer token. */
  signedWith: string;
  bearer: string;
  /** Key and form combinations that give another signature than the one that was sent. */
  untried: Combination[];
};

/** Signs the known vectors and returns the names of those that come out wrong. */
export function testSigning(): { total: number; failed: string[] } {
  const failed = signatureVectors.filter(
    ({ payload, key, body, signature }) =>
      canonicalBody(payload) !== body || signBody(body, key) !== signature,
  );
  return { total: signatureVectors.length, failed: failed.map(({ name }) => name) };
}

/** The order in which the interface document lists the parameters (endpoint 3). */
const documented = [
  'account_number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'sender_name',
  'narration',
  'reference',
  'type',
];

type Form = { name: string; text: string; sendable: boolean };

/**
 * Returns what was signed, with which key, and what else a service may mean by "the HMAC of the payload". That is every
 * key with every way to write the same order, each with the setting that selects it. Sends nothing.
 */
export function examineSignature(options: {
  body: string;
  keys: CandidateKeys;
  /** Where the keys are set, such as `COUNTERFOIL_TEST`. */
  prefix: string;
  signatureKey: 'secret' | 'encryption' | 'auto';
  authorizationKey: 'secret' | 'encryption';
}): SignatureFacts | undefined {
  const { body, keys, prefix } = options;
  const hasEncryption = keys.encryptionKeys.length > 0;
  const signer = keyNameOf(options.signatureKey, hasEncryption);
  const values = { secret: keys.secretKeys, encryption: keys.encryptionKeys };
  const [own] = values[signer];
  if (own === undefined) return undefined;
  const sent = signBody(body, own);
  const seen = new Set([sent]);
  const untried: Combination[] = [];
  for (const kind of ['secret', 'encryption'] as const) {
    for (const [at, value] of values[kind].entries()) {
      for (const form of formsOf(body)) {
        const digest = signBody(form.text, value);
        if (seen.has(digest)) continue;
        seen.add(digest);
        untried.push({
          key: nameOf(prefix, kind, at, values[kind].length),
          form: form.name,
          signature: masked(digest),
          setting: form.sendable ? settingFor(prefix, { kind, at, signer }) : null,
        });
      }
    }
  }
  return {
    sha256: createHash('sha256').update(body, 'utf8').digest('hex'),
    signature: masked(sent),
    signedWith: nameOf(prefix, signer, 0, values[signer].length),
    bearer: nameOf(prefix, options.authorizationKey, 0, Math.max(1, values[options.authorizationKey].length)),
    // Combinations that can be tried here come before those that only the service's support can answer.
    untried: untried.toSorted((a, b) => Number(a.setting === null) - Number(b.setting === null)),
  };
}

function nameOf(prefix: string, kind: KeyName, at: number, of: number): string {
  const name = `${prefix}_${kind.toUpperCase()}_KEY`;
  return of > 1 ? `${name} (value ${at + 1} of ${of})` : name;
}

function settingFor(prefix: string, key: { kind: KeyName; at: number; signer: KeyName }): string {
  const { kind, at, signer } = key;
  const choose = kind === signer ? [] : [`service.signature_key: ${kind}`];
  const rotate = at === 0 ? [] : [`put value ${at + 1} first in ${prefix}_${kind.toUpperCase()}_KEY`];
  return [...choose, ...rotate].join(', and ');
}

/** The ways in use to write one order. Two may give the same text. */
function formsOf(body: string): Form[] {
  const order: Record<string, unknown> = JSON.parse(body);
  const sorted = Object.fromEntries(Object.entries(order).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const listed = Object.fromEntries(
    Object.entries(order).toSorted(([a], [b]) => documented.indexOf(a) - documented.indexOf(b)),
  );
  const escaped = (value: unknown): string => ascii(JSON.stringify(value)).replaceAll('/', '\\/');
  return [
    { name: 'the body as sent: keys sorted, \\/ and \\uXXXX', text: body, sendable: true },
    { name: 'keys sorted, nothing escaped', text: JSON.stringify(sorted), sendable: false },
    { name: 'keys sorted, \\uXXXX, / as it is', text: ascii(JSON.stringify(sorted)), sendable: false },
    { name: "the document's order, \\/ and \\uXXXX", text: escaped(listed), sendable: false },
    { name: "the document's order, nothing escaped", text: JSON.stringify(listed), sendable: false },
  ];
}

function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function masked(digest: string): ShownDigest {
  return { first: digest.slice(0, 8), last: digest.slice(-8) };
}
