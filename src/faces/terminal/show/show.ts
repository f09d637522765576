import { payoutStory } from '../../../books/overview.sql.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { collectionStory } from '../../../watching/collections/collection-lines.sql.ts';
import { watchOf } from '../../json/evidence-json.ts';
import { aroundPayout, payoutStoryJson } from '../../json/show-payout.ts';
import { noSuch } from '../context/nearest-reference.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
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
    const { requests, heardAt, chain, around } = await aroundPayout(app, story);
    const watch = watchOf(app);
    const account = options.fullAccounts === true ? (text: string) => text : maskAccount;
    const terminal = terminalOf(context, app.config, watch.now);
    const more = [
      '',
      `trace ${around.trace_id}`,
      ...resendLines(requests, heardAt, watch.now, terminal),
      ...(collection ? ['', `also a collection, ${collection.collection.state}`] : []),
    ];
    const lines = showLines(story, chain, { watch, account, terminal, more });
    const fields = payoutStoryJson(story, around, account);
    return { code: 0, lines, json: { shape: 'show', fields } };
  });
};
