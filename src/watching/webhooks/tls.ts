import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** A certificate (with its chain) and its key as PEM text, with the dates of its validity. */
export type TlsPair = { cert: string; key: string; validFrom: number; validTo: number };

/** The section of the configuration whose `tls_cert` and `tls_key` name the files; it decides how problems are named. */
export type TlsSection = 'receiver' | 'admin';

export type TlsFiles = { certFile: string; keyFile: string; section?: TlsSection };

/** A certificate that ends in fewer days is a finding. */
export const warnDays = 14;

/** A certificate or its key is unusable; the message names the setting, the file and the remedy. */
export class TlsProblem extends Error {}

/**
 * Reads both files and proves that they belong together. Throws TlsProblem. It does not check whether the certificate
 * is valid today ({@link validityProblem}).
 */
export async function readTlsPair({ certFile, keyFile, section = 'receiver' }: TlsFiles): Promise<TlsPair> {
  const cert = await readText(`${section}.tls_cert`, certFile);
  const key = await readText(`${section}.tls_key`, keyFile);
  const certificate = attempt(
    () => new X509Certificate(cert),
    `${section}.tls_cert: ${certFile} holds no certificate in PEM form (it begins with -----BEGIN CERTIFICATE-----)`,
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    `${section}.tls_key: ${keyFile} holds no private key in PEM form without a passphrase (openssl pkey -in ${keyFile} takes one off)`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TlsProblem(
      `${section}.tls_key: ${keyFile} is not the key of the certificate in ${certFile}; the certificate must come first in its file, its chain after it`,
    );
  }
  attempt(
    () => createSecureContext({ cert, key }),
    `${section}.tls_cert: ${certFile} with ${keyFile} is refused by TLS`,
  );
  return {
    cert,
    key,
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

/** What is wrong with the dates of a certificate; null if nothing is. */
export function validityProblem(
  pair: TlsPair,
  { certFile, section = 'receiver' }: Pick<TlsFiles, 'certFile' | 'section'>,
  nowMs: number,
): string | null {
  if (nowMs >= pair.validTo)
    return `${section}.tls_cert: the certificate in ${certFile} expired at ${new Date(pair.validTo).toISOString()}`;
  if (nowMs < pair.validFrom)
    return `${section}.tls_cert: the certificate in ${certFile} is not valid before ${new Date(pair.validFrom).toISOString()}`;
  return null;
}

async function readText(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new TlsProblem(
      `${setting}: ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}`,
    );
  }
}

/** Runs the work; on failure appends the library's message to ours. */
function attempt<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new TlsProblem(`${problem}: ${why}`);
  }
}
