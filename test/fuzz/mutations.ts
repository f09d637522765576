import type { WebhookProof } from '../../src/watching/webhooks/webhook-signature.ts';

/** What a delivery is believed by. */
export type Signed = { body: Buffer; proof: Required<Record<keyof WebhookProof, string>> };

type Random = (below: number) => number;

/** Numbers that depend on the seed alone (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Changes one part of a signed delivery: a bit, a byte more or less, its end. What means the same is no change. */
export function mutate(signed: Signed, random: Random): Signed {
  const parts = ['body', 'payloadsignature', 'merchantsignature', 'authorization'] as const;
  for (;;) {
    const part = parts[random(parts.length)] ?? 'body';
    if (part === 'body') {
      const body = changed(signed.body, random);
      if (!body.equals(signed.body)) return { ...signed, body };
      continue;
    }
    const value = changed(Buffer.from(signed.proof[part], 'latin1'), random).toString('latin1');
    if (meaningOf(part, value) !== meaningOf(part, signed.proof[part]))
      return { ...signed, proof: { ...signed.proof, [part]: value } };
  }
}

function changed(bytes: Buffer, random: Random): Buffer {
  const at = random(bytes.length);
  switch (random(5)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([random(256)]), bytes.subarray(at)]);
    case 2:
      return bytes.subarray(0, at);
    default: {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random(8));
      return flipped;
    }
  }
}

/** Hexadecimal digits and the word Bearer have no case; HTTP takes blanks around a value away. */
function meaningOf(part: keyof WebhookProof, value: string): string {
  if (part !== 'authorization') return value.trim().toLowerCase();
  return value.trim().replace(/^bearer +/i, 'bearer ');
}
