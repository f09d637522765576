import { counted } from '../../../core/domain/counted.ts';
import { hasRight } from '../../admin/access.ts';
import { type Html, html } from '../kit/html.ts';
import { batchTable, standNames, stands } from './batch-parts.ts';
import type { BatchLook, standOf } from './batches.sql.ts';
import type { View } from './frame.ts';
import { onwards } from './pages.ts';
import { panel } from './parts.ts';
import { addressOf } from './query.ts';

type Stand = ReturnType<typeof standOf>;
/** `all`: how many there are, however they stand. */
type Found = { looks: readonly BatchLook[]; only: Stand | null; all: number; next: string | null };

/** All batches, or those that stand so, the newest first. */
export function batchesView({ looks, only, all, next }: Found, view: View): Html {
  const narrowed: Record<string, string> = only === null ? {} : { state: only };
  const link = (stand: Stand | null, name: string): Html =>
    html`<li><a href="${addressOf('/batches', stand === null ? {} : { state: stand })}"${stand === only && html` aria-current="page"`}>${name}</a></li>`;
  const links = stands.map((stand) => link(stand, standNames[stand]));
  const none = only === null ? 'No batch was taken in yet.' : `None of them: ${standNames[only]}.`;
  return html`<h1>Batches</h1>
${hasRight(view.caller, 'drop') && html`<p><a class="go" href="/batches/new">Drop files…</a></p>`}
<nav class="narrow" aria-label="States"><ul>${link(null, 'all')}${links}</ul></nav>
${panel(only === null ? `${counted(all, 'batch', 'batches')}, the newest first` : 'Newest first', looks.length > 0 ? batchTable('Batches', looks, view) : html`<p>${none}</p>`)}
${onwards(next === null ? null : addressOf('/batches', { ...narrowed, after: next }))}`;
}
