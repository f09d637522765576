import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findServing } from '../../../core/runtime/serve-lock.ts';
import { keyNameOf } from '../../../core/service/signing.ts';
import type { Explained, SecretState } from '../../../core/settings/explain.ts';
import { type Config, isUnitCredential } from '../../../core/settings/settings.ts';
import { isShown } from '../../../findings/finding.ts';
import { diskFindings } from '../../../findings/machine-findings.ts';
import { adviceText } from '../../../words/advice-text.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { secretText } from '../setup/config-show.ts';
import { type DoctorCheck, well, wrong } from './doctor-check.ts';

/** Checks that the configuration is valid and safe. An unreadable one was refused before. */
export function checkConfiguration({ config, unread }: Explained): DoctorCheck {
  const [first] = unread;
  if (first !== undefined) {
    return wrong(
      'configuration',
      `nothing reads ${unread.join(', ')}`,
      `${first}: correct its name, or take it away; counterfoil config show lists what is read`,
    );
  }
  const insecure = config.warnings.filter((warning) => !warning.includes('.env can be read'));
  const [warning] = insecure;
  if (warning !== undefined) {
    const [what = warning, fix = warning] = warning.split(/: (.*)/s);
    return wrong('configuration', what, fix);
  }
  return well('configuration', `${config.configFile}, mode ${config.mode}, ${config.service.baseUrl}`);
}

/** Checks that the configured mode has its keys (P24). Reading the configuration already refused keys of the other mode. */
export function checkKeys({ config, secrets }: Explained): DoctorCheck {
  const prefix = `COUNTERFOIL_${config.mode.toUpperCase()}`;
  const env = join(config.home, '.env');
  const isServed = findServing(config.dataDir) === true;
  const keys = config.keys[config.mode];
  const { signatureKey, authorizationKey } = config.service;
  const hasEncryption = (keys?.encryptionKeys.length ?? 0) > 0;
  if ((keys?.secretKeys.length ?? 0) === 0)
    return wrong(
      'keys',
      `no ${config.mode} key${isServed ? ' in this shell' : ''}: nothing can be sent or asked`,
      isServed ? adviceText({ kind: 'run_as_unit' }) : `set ${prefix}_SECRET_KEY in ${env}`,
    );
  if (!hasEncryption && (signatureKey === 'encryption' || authorizationKey === 'encryption'))
    return wrong(
      'keys',
      'the configuration asks for the encryption key, and none is set',
      isServed ? adviceText({ kind: 'run_as_unit' }) : `set ${prefix}_ENCRYPTION_KEY in ${env}`,
    );
  const own = secrets.filter(({ name }) => name.startsWith(prefix));
  const states = own.map((one) => `${one.name.slice(prefix.length + 1)} ${secretText(one)}`);
  const signer = keyNameOf(signatureKey, hasEncryption).toUpperCase();
  return well('keys', `${states.join('; ')}; ${signer}_KEY signs`);
}

type Account = { uid: number; gid: number };

/**
 * Who besides root may read a file of keys. `group`: root gave it to the group of this account, to read. The group's bits
 * of a credential show the right of the unit's account (an ACL), not of a group.
 */
export function readersOf(
  file: Account & { mode: number },
  isCredential: boolean,
  account: Account,
): 'account' | 'group' | 'others' {
  const mode = file.mode & 0o777;
  if ((mode & (isCredential ? 0o037 : 0o077)) === 0) return 'account';
  const isLent = file.uid === 0 && account.uid !== 0 && file.gid === account.gid;
  return isLent && (mode & 0o037) === 0 ? 'group' : 'others';
}

const ownerOf = (file: string): Account => {
  const { uid, gid } = statSync(file);
  return { uid, gid };
};

/** The command that leaves a file of keys to this account alone. Only its owner and root can change its mode. */
export function closingCommand({ file, uid, gid }: Account & { file: string }, account: Account): string {
  if (account.uid === 0 || uid === account.uid) return `chmod 600 ${file}`;
  // Root lends it to the group of this account, which must go on reading it.
  if (uid === 0 && gid === account.gid) return `sudo chmod 640 ${file}`;
  return `sudo chown ${account.uid} ${file} && sudo chmod 600 ${file}`;
}

/** Checks that no other account can read the keys: a reader of the keys can send money. */
export function checkSecretFiles({ config, secrets }: Explained): DoctorCheck {
  const files = new Set([
    join(config.home, '.env'),
    ...secrets.flatMap(({ file }: SecretState) => (file === null ? [] : resolve(config.home, file))),
  ]);
  const there = [...files].filter((file) => existsSync(file));
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { others, ...fine } = Object.groupBy(there, (file) =>
    readersOf(statSync(file), isUnitCredential(file), account),
  );
  if (others)
    return wrong(
      'secret files',
      `others on this machine can read ${others.join(', ')}`,
      others.map((file) => closingCommand({ file, ...ownerOf(file) }, account)).join('; '),
    );
  const said = [
    ...(fine.account ? [`${fine.account.join(', ')}: only for this account`] : []),
    ...(fine.group ? [`${fine.group.join(', ')}: only for root and the group of this account`] : []),
  ];
  return well('secret files', said.join('; ') || 'no .env; keys come from the environment');
}

/** Checks that the data folder is writable and has room for a copy of the ledger. */
export async function checkDisk({ dataDir, ledgerFile }: Config): Promise<DoctorCheck> {
  if (!existsSync(dataDir))
    return wrong('disk', `there is no data folder ${dataDir}`, 'run counterfoil init, or check --data');
  const probe = join(dataDir, `.doctor-${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return wrong(
      'disk',
      `nothing can be written to ${dataDir} (${code})`,
      code === 'ENOSPC'
        ? 'free some space'
        : `check the folder's owner and rights, and that the disk is not read-only`,
    );
  }
  const found = await diskFindings({ dataDir, ledgerFile }, '');
  const low = found.find((one) => one.kind === 'disk_low');
  const { problem, fix } = low
    ? findingWords.disk_low.doctor(low)
    : { problem: `${dataDir} cannot be looked at`, fix: 'see that this account may use it' };
  return low && !isShown(low, 'doctor') ? well('disk', problem) : wrong('disk', problem, fix);
}
