/**
 * Parses a reply with every number kept as its source text, so that no id or amount loses a digit (P13).
 * Returns undefined for anything that is not JSON.
 */
export function parseLossless(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value,
    );
  } catch {
    return undefined;
  }
}

/** A JSON object, or undefined for arrays, null and everything else. */
export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

/** Text as it is, a lossless number as its text; null for everything else. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export type Envelope = {
  success: boolean;
  status: string;
  message: string;
  data: Record<string, unknown> | undefined;
};

/** The service's JSON envelope (Errors and Resources of the interface), or undefined when the body is not one. */
export function readEnvelope(json: unknown): Envelope | undefined {
  const body = asObject(json);
  if (!body || typeof body.success !== 'boolean' || typeof body.status !== 'string') return undefined;
  return {
    success: body.success,
    status: body.status,
    message: asText(body.message) ?? '',
    data: asObject(body.data),
  };
}
