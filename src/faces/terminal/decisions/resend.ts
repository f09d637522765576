import type { App } from '../../../app/app.ts';
import { plainTrouble } from '../../../core/domain/run-error.ts';
import type { Obstacle } from '../../../verbs/obstacles.ts';
import { resendVerb } from '../../../verbs/resend.ts';
import { notAskedYet, resendJson } from '../../json/order-json.ts';
import { noSuch } from '../context/nearest-reference.ts';
import { orderer, stopFor } from '../context/person.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';

/** `resend REFERENCE…`: asks for webhooks again, within the rate limit; `--collection` for collections. */
export const resend: Handler = async (context, args, options) => {
  return withApp(context, { level: 'whole', use: 'writes', kind: 'resend' }, async (app) => {
    let said = false;
    const parts = {
      ...app,
      signal: context.signal,
      async meanwhile() {
        if (!said && !context.options.quiet) context.say('waiting for the rate limit of resend requests …');
        said = true;
      },
    };
    const order = { references: args, collections: Boolean(options.collection) };
    const done = await resendVerb.run(parts, order, orderer(context));
    if (done.kind === 'refused') throw await refusal(app, done.why);
    const { asked } = resendJson(done);
    const lines = done.asked.map(({ reference, answer }) => {
      if (answer === null) return `waiting  ${reference}: ${notAskedYet}`;
      if (answer.outcome === 'asked') return `asked    ${reference}`;
      return answer.outcome === 'refused'
        ? `refused  ${reference}: ${answer.message}`
        : `failed   ${reference}: ${plainTrouble(answer.message)}`;
    });
    return {
      isNews: true,
      code: asked.every((a) => a.ok) ? 0 : 1,
      screen: { blocks: [lines] },
      json: { shape: 'resend', fields: { asked } },
    };
  });
};

/** The obstacle, with the nearest name of a payout. */
async function refusal(app: App, why: Obstacle): Promise<Stop> {
  if (why.kind !== 'no_payout') return stopFor({ why });
  const said = await noSuch('payout', why.references.join(', '), app, '.');
  return new Stop(`${said} For a collection add --collection. Nothing was asked`);
}
