import { type Context, withApp } from './context.ts';
import { unlessQuiet } from './describe.ts';
import type { Result } from './result.ts';

/** `resend REFERENCE…`: asks for webhooks again, inside the throttle; `--collection` for collections. */
export async function resend(
  context: Context,
  args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  return withApp(context, 'resend', async (app) => {
    const kind = options.collection ? 'transaction' : 'payout';
    const asked: { reference: string; ok: boolean; message: string }[] = [];
    for (const reference of args) {
      if (context.signal.aborted) break;
      asked.push({ reference, ...(await app.resends.askByReference(kind, reference)) });
    }
    const lines = asked.map(({ reference, ok, message }) =>
      ok ? `asked    ${reference}` : `refused  ${reference}: ${message}`,
    );
    return unlessQuiet(context, { code: asked.every((a) => a.ok) ? 0 : 1, lines, json: { asked } });
  });
}
