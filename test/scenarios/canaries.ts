import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** Twenty secrets that nothing may ever print, log or store, each by what it stands for. */
export const canaries = {
  testSecret: 'sk_test_canary01/Qm7vZ2xW9aLpT4',
  testSecretNext: 'sk_test_canary02+Rb8nY3cV6sKdU5',
  testPublic: 'pk_test_canary03-Hj2kM9fG4wEzA7',
  testEncryption: 'enc_test_canary04_Tt6yB1qN8xXoI3',
  testEncryptionNext: 'enc_test_canary05_Lp5uJ7hD2vCgS9',
  testWebhook: 'whk_canary06.Zx4cV8bN1mQwE6r',
  testWebhookNext: 'whk_canary07.Ui9oP2aS5dFgH3j',
  liveSecret: 'sk_live_canary08_Kl1zX7cV4bNmQ8',
  liveSecretNext: 'sk_live_canary09_We3rT6yU9iOpA2',
  livePublic: 'pk_live_canary10_Sd5fG8hJ1kLzX4',
  liveEncryption: 'enc_live_canary11_Cv7bN2mQ5wErT9',
  liveWebhook: 'whk_canary12.Yu3iO6pA9sDfG1h',
  adminAda: 'canary13-Jk4lZ7xC1vBnM5q',
  adminObi: 'canary14-Wr8tY2uI6oPaS3d',
  strangersBearer: 'canary15-Fg9hJ3kL7zXcV2b',
  proxyPassword: 'canary16-Nm5qW1eR8tYuI4o',
  urlPassword: 'canary17-Pa7sD2fG6hJkL9z',
  urlToken: 'canary18-Xc3vB8nM4qWeR1t',
  keyInsteadOfFile: 'sk_test_canary19_Yi6uO2pAs5Df',
  wrongKey: 'sk_test_canary20_Gh8jK3lZx7Cv',
} as const;

/** Which canaries stand in a text, by name: as they are, or as JSON, a URL or base64 would spell them. */
export function found(text: string): string[] {
  return Object.entries(canaries).flatMap(([name, value]) => {
    const inJson = value.replaceAll('/', '\\/');
    const spelt = [value, inJson, encodeURIComponent(value), Buffer.from(value).toString('base64')];
    return spelt.some((one) => text.includes(one)) ? [name] : [];
  });
}

/** Every file below a folder that holds a canary, workbooks unpacked; `except` are the names of the keys' own files. */
export function foundInFiles(
  folder: string,
  except: readonly string[],
): { looked: string[]; leaks: string[] } {
  const looked = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !except.some((name) => path === join(folder, name)));
  const leaks = looked.flatMap((path) => {
    const bytes = readFileSync(path);
    const text = path.endsWith('.xlsx') ? unpacked(bytes) : bytes.toString('latin1');
    return found(text).map((name) => `${path}: ${name}`);
  });
  return { looked, leaks };
}

/** The members of a zip archive, one after the other. */
function unpacked(zip: Buffer): string {
  let text = '';
  for (let at = zip.indexOf('PK\x03\x04'); at !== -1; at = zip.indexOf('PK\x03\x04', at + 4)) {
    const start = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
    const isDeflated = zip.readUInt16LE(at + 8) === 8;
    text += isDeflated
      ? inflateRawSync(zip.subarray(start)).toString('latin1')
      : zip.subarray(start).toString('latin1');
  }
  return text;
}
