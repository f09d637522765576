import { payoutStory } from '../../../books/overview.sql.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { neighboursOf } from '../../../core/ledger/successors.ts';
import { originOf } from '../../../sending/approvals.sql.ts';
import { collectionStory } from '../../../watching/collections/collection-lines.sql.ts';
import { firstFinalWebhook, resendsOf } from '../../../watching/lookups/resend-requests.sql.ts';
import { noSuch } from '../context/nearest-reference.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { watchOf } from '../decisions/evidence-lines.ts';
import { resendOf } from '../json/plain-parts.ts';
import { payoutStoryJson } from '../json/show-payout.ts';
import { terminalOf } from '../kit/terminal.ts';
import { resendLines, showCollection } from './show-collection.ts';
import { showLines } from './show-lines.ts';

/** `show REFERENCE`: prints the whole story of one payout or collection, each fact with its source and time. */
export const show: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: 'reads' }, async (app) => {
    const reference = args[0] ?? '';
    const story = await payoutStory(app.ledger, reference);
    const collection = await collectionStory(app.ledger.db, reference);
    if (!story && collection)
      return showCollection(collection, app.clock.iso(), terminalOf(context, app.config, app.clock.iso()));
    if (!story) throw new Stop(await noSuch('payout or collection', reference, app));
    const requests = await resendsOf(app.ledger.db, { kind: 'payout', id: story.payout.id });
    const origin = await originOf(app.ledger.db, story.payout);
    const chain = { ...(await neighboursOf(app.ledger.db, story.payout)), ...origin };
    const watch = watchOf(app);
    const heardAt = await firstFinalWebhook(app.ledger.db, story.payout.id);
    const account = options.fullAccounts === true ? (text: string) => text : maskAccount;
    const terminal = terminalOf(context, app.config, watch.now);
    const more = [
      ...resendLines(requests, heardAt, watch.now, terminal),
      ...(collection ? ['', `also a collection, ${collection.collection.state}`] : []),
    ];
    const lines = showLines(story, chain, { watch, account, terminal, more });
    const around = {
      ...chain,
      resend: resendOf(requests, heardAt, watch.now),
      ...(collection && { collection: collection.collection.state }),
    };
    const fields = payoutStoryJson(story, around, account);
    return { code: 0, lines, json: { shape: 'show', fields } };
  });
};
