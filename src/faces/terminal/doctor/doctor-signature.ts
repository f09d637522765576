import type { App } from '../../../app/app.ts';
import type { Mode } from '../../../core/domain/payout.ts';
import { maskAccount, maskAccounts } from '../../../core/domain/redact.ts';
import {
  examineSignature,
  type SignatureFacts,
  testSigning,
} from '../../../core/service/signature-doctor.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { SignatureJson } from '../../../core/shapes/setup-shapes.ts';
import { lastSignatureRefusal, type SignedBody, signedBodyOf } from '../../../core/storage/health.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { Stop } from '../context/result.ts';
import { type DoctorCheck, well, wrong } from './doctor-check.ts';

/** What was signed and how, and every other possible reading of the rule. */
export type Examined = { signed: SignedBody; facts: SignatureFacts };

/** Checks that signing gives the known answers; otherwise nothing below means anything. */
export function checkSigning(): DoctorCheck {
  const { total, failed } = testSigning();
  const detail = `${total - failed.length} of ${total} known answers`;
  return failed.length === 0
    ? well('signing', `${detail} are signed as PHP signs them`)
    : wrong(
        'signing',
        `${detail}; wrong: ${failed.join(', ')}`,
        'this installation is damaged: run npm ci again',
      );
}

/** The body of `reference`, else the last one that the service answered with 22; undefined if there is none. */
export async function examine(
  app: App<'local'>,
  reference: string | undefined,
): Promise<Examined | undefined> {
  const { config, ledger } = app;
  const { mode } = config;
  const signed = await (reference === undefined
    ? lastSignatureRefusal(ledger.db)
    : signedBodyOf(ledger.db, reference));
  if (reference !== undefined && !signed)
    throw new Stop(`no payout "${reference}" in this ledger (mode ${mode})`);
  const keys = config.keys[mode];
  if (!signed || !keys || signed.body === '') return undefined;
  const facts = examineSignature({
    body: signed.body,
    keys,
    prefix: `COUNTERFOIL_${mode.toUpperCase()}`,
    signatureKey: config.service.signatureKey,
    authorizationKey: config.service.authorizationKey,
  });
  return facts && { signed, facts };
}

/** Reports the examined signature. It is wrong when the service refused it and accepted nothing since. */
export function checkRefusal(
  { signed: { reference, beganAt, code }, facts }: Examined,
  mode: Mode,
): DoctorCheck {
  if (code !== '22') return well('signature', `${reference} as it is signed now: see below`);
  const next = facts.untried.find(({ setting }) => setting !== null)?.setting;
  return wrong(
    'signature',
    `the service answered 22 (invalid signature) to ${reference}, sent at ${beganAt}`,
    next
      ? `${next}; then counterfoil release --mode and ${submitCommand(mode)}: the first payout shows whether it was that, and another 22 halts again`
      : "show the table below to the service's support: it can compare the digests",
  );
}

/** Everything that the service's support asks for, without any part of a key. */
export function signatureLines(
  { signed, facts }: Examined,
  options: { config: Config; whole: boolean },
): string[] {
  const { signature, untried } = facts;
  return [
    '',
    `Signature of ${signed.reference} (${signed.beganAt ? `sent at ${signed.beganAt}, answered ${signed.code ?? 'nothing known'}` : 'never sent'})`,
    `  text signed    ${options.whole ? signed.body : maskBody(signed.body)}`,
    ...(options.whole
      ? []
      : ['                 (account number masked here; the digests are over the unmasked text)']),
    `  its SHA-256    ${facts.sha256}`,
    `  signature      ${signature.first}…${signature.last} (HMAC-SHA512, lowercase hexadecimal)`,
    `  signed with    ${facts.signedWith} (service.signature_key: ${options.config.service.signatureKey})`,
    `  Bearer         ${facts.bearer} (service.authorization_key: ${options.config.service.authorizationKey})`,
    '  as configured now: what was sent before a change was signed with the key of that time',
    '',
    ...(untried.length === 0
      ? ['  No other configured key or form gives another signature.']
      : [
          '  Not tried yet (key, form, signature, how):',
          ...untriedLines(untried),
          "  for support: this program cannot send that form; ask the service's support whether it computes that digest",
        ]),
    ...missingKeyLines(options.config),
  ];
}

function untriedLines(untried: SignatureFacts['untried']): string[] {
  const width = Math.max(...untried.map(({ key }) => key.length));
  return untried.map(
    ({ key, form, signature, setting }) =>
      `  ${key.padEnd(width)}  ${form.padEnd(48)}  ${signature.first}…${signature.last}  ${setting ?? 'for support'}`,
  );
}

function missingKeyLines({ keys, mode }: Config): string[] {
  const name = `COUNTERFOIL_${mode.toUpperCase()}_ENCRYPTION_KEY`;
  return (keys[mode]?.encryptionKeys.length ?? 0) > 0
    ? []
    : [`  ${name} is not set: where the service shows an encryption key, set it; then it signs.`];
}

/** Masks the account number everywhere: the narration may contain it too. */
function maskBody(body: string): string {
  const account = /"account_number":"(\d+)"/.exec(body)?.[1];
  return account === undefined ? maskAccounts(body) : body.replaceAll(account, maskAccount(account));
}

/** The same for `--json`; the body is always masked there. */
export function signatureJson({ signed, facts }: Examined): SignatureJson {
  const { reference, body, beganAt: sent_at, code } = signed;
  const { sha256, signature, signedWith: signed_with, bearer, untried } = facts;
  const shown = { reference, sent_at, code, text: maskBody(body), text_is_masked: true as const };
  return { ...shown, sha256, signature, signed_with, bearer, untried };
}
