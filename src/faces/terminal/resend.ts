import type { App } from '../../app/app.ts';
import { isAskable } from '../../core/domain/others-reference.ts';
import { findCollection } from '../../watching/collections/collections.sql.ts';
import { payoutToAsk, type ResendSubject } from '../../watching/lookups/resend-requests.sql.ts';
import { finished, unlessQuiet } from './describe.ts';
import { noSuch } from './nearest-reference.ts';
import { Stop } from './result.ts';
import { withApp } from './with-app.ts';
import type { Handler } from './world.ts';

type Named = { reference: string; subject: ResendSubject };

const minuteMs = 60_000;
const later =
  'not asked yet: the rate limit or the service delays it. It stays on the list: counterfoil serve, or the next reconcile, asks for it';

/** `resend REFERENCE…`: asks for webhooks again, within the rate limit; `--collection` for collections. */
export const resend: Handler = async (context, args, options) => {
  return withApp(context, { level: 'whole', use: 'writes', kind: 'resend' }, async (app) => {
    const named: Named[] = [];
    for (const reference of new Set(args)) {
      const subject = await (options.collection ? collectionOf : payoutOf)(app, reference);
      named.push({ reference, subject });
    }
    const { signal } = context;
    const minutes = 1 + Math.ceil(named.length / app.config.service.resendsPerMinute);
    let said = false;
    const made = await app.resends.askFor(
      named.map(({ subject }) => subject),
      {
        signal,
        forMs: minutes * minuteMs,
        async meanwhile() {
          if (!said && !context.options.quiet) context.say('waiting for the rate limit of resend requests …');
          said = true;
        },
      },
    );
    const answers = new Map(made.map((one) => [one.reference.toLowerCase(), one]));
    const asked = named.map(({ reference }) => {
      const { ok = false, message = later } = answers.get(reference.toLowerCase()) ?? {};
      return { reference, ok, message };
    });
    const lines = asked.map(({ reference, ok, message }) =>
      ok
        ? `asked    ${reference}`
        : `${message === later ? 'waiting ' : 'refused '} ${reference}: ${message}`,
    );
    return unlessQuiet(context, {
      code: asked.every((a) => a.ok) ? 0 : 1,
      lines: finished(context, lines),
      json: { asked },
    });
  });
};

async function payoutOf(app: App, reference: string): Promise<ResendSubject> {
  const subject = await payoutToAsk(app.ledger.db, reference);
  if (subject) return subject;
  const why = await noSuch('payout', reference, app, '.');
  throw new Stop(`${why} For a collection add --collection. Nothing was asked`);
}

/** Finds the collection, also one that the ledger does not know: it may exist when its webhook was lost. */
async function collectionOf(app: App, reference: string): Promise<ResendSubject> {
  const { mode } = app.config;
  const known = await findCollection(app.ledger.db, reference);
  if (!isAskable(known?.reference ?? reference))
    throw new Stop(`no request can name the reference "${reference}". Nothing was asked`);
  const id = known?.id ?? (await app.collectionLookUps.discover(reference));
  if (id !== undefined) return { kind: 'transaction', id };
  throw new Stop(
    `no collection "${reference}": it was not expected here, no webhook reported it, and the service does not show it (mode ${mode}). Nothing was asked`,
  );
}
