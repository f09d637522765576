import { z } from 'zod';
import { count, fields, findingShape, flag, haltShape, instant, list, modeShape, text } from './parts.ts';

export const initShape = fields({ mode: modeShape, written: list(text), kept: list(text) });

const shownDigest = fields({ first: text, last: text });
const signature = fields({
  reference: text,
  sent_at: instant.nullable(),
  code: text.nullable().describe('what the service answered'),
  text: text.describe('the text that is signed'),
  text_is_masked: z.literal(true),
  sha256: text.describe('of the unmasked text'),
  signature: shownDigest,
  signed_with: text.describe('the name of the key'),
  bearer: text.describe('the name of the key'),
  untried: list(
    fields({
      key: text,
      form: text,
      signature: shownDigest,
      setting: text.nullable().describe('the setting that sends it; null where this program cannot'),
    }),
  ),
});
export type SignatureJson = z.input<typeof signature>;

export const doctorShape = fields({
  ok: flag,
  checks: list(fields({ name: text, ok: flag.nullable(), detail: text, fix: text.nullable() })),
  findings: list(findingShape).describe('what status finds; empty where the ledger cannot be read'),
  signature: signature.exactOptional(),
});

export const configShape = fields({
  config_file: text,
  home: text,
  data_dir: text,
  settings: list(fields({ key: text, value: z.unknown(), origin: text })),
  secrets: list(
    fields({
      name: text,
      state: z.enum(['set', 'not set']),
      values: count,
      origin: text.nullable(),
      file: text.nullable(),
    }),
  ),
  warnings: list(text),
});

export const sandboxShape = fields({
  url: text,
  secret_key: text,
  public_key: text,
  encryption_key: text,
  webhook_key: text.nullable(),
  scenario: text,
});

export const serveShape = fields({
  ready: z.literal(true),
  mode: modeShape,
  receiver: text.nullable().describe('where it receives webhooks'),
  admin: text.nullable(),
  halted: haltShape.nullable().describe('why nothing is sent, or null'),
});

export const demoShape = fields({ agree: flag, run: text, reports: list(text) });
export const completionShape = fields({ shell: text, script: text });
export const completeShape = fields({ names: list(text) });
export const helpShape = fields({ help: text });
export const versionShape = fields({ version: text });
export const errorShape = fields({ error: text });
