import { formats, readNames } from '../../../../core/domain/file-formats.ts';
import { visible } from '../../../../core/domain/hidden.ts';
import { waitingWhy } from '../../../../core/domain/waiting-file.ts';
import type { MendedBatch } from '../../../../core/ledger/mends.ts';
import type { RejectedFile } from '../../../../core/ledger/rejected-files.ts';
import type { Lying } from '../../../../intake/inbox.ts';
import { rejectedText } from '../../../../words/rejected-words.ts';
import { hasRight } from '../../../admin/access.ts';
import { type Html, html } from '../../kit/html.ts';
import { wideTable } from '../../kit/table.ts';
import { form, whoMay } from '../forms.ts';
import { seesBank, type View } from '../frame.ts';
import { countText, panel, sentence, time, to } from '../parts.ts';
import type { Drop } from './drops.ts';

/** What a browser offers for choosing. */
const offered = Object.values(formats)
  .flatMap(({ endings, mediaTypes: [usual] }) => [...endings, usual])
  .join(',');

const problemColumns = [{ number: 'Row' }, 'Column', 'Value', 'What is wrong', 'How to mend it'];

/** The page where files are dropped. */
export function newFilesView(
  { maxBytes, mostFiles }: { maxBytes: number; mostFiles: number },
  view: View,
): Html {
  if (view.formToken === null || !hasRight(view.caller, 'drop'))
    return html`<h1>Drop files</h1><p>${whoMay(view, 'drop')}</p>`;
  return html`<h1>Drop files</h1>
<form id="drop-form" class="drop" method="post" action="/batches/new" enctype="multipart/form-data" data-most="${maxBytes}">
<input type="hidden" name="form" value="${view.formToken}">
<label for="drop-files">${readNames} files of payouts, at most ${mostFiles} at once<input id="drop-files" name="files" type="file" accept="${offered}" multiple required></label>
<p id="drop-hint" class="soft" hidden>Or drag them here.</p>
<p><button class="go">Check them</button></p>
<p><progress hidden value="0" max="1" aria-label="Sent"></progress></p>
<p id="drop-news" role="status"></p>
</form>
<p>Each file is checked first. Nothing is taken in before you say so, and a file that nobody decides on is removed after a day. <a href="/files">Files that wait</a></p>`;
}

export type FilesLook = {
  drops: readonly Drop[];
  arriving: number;
  lying: Lying;
  loading: readonly string[];
  rejected: readonly RejectedFile[];
  /** The hosts of those that are not in the folder of this machine, by id; empty where no host is known. */
  elsewhere: ReadonlyMap<bigint, string>;
  mended: readonly MendedBatch[];
  /** The first problems of refused files, as their sheets have them, by id. */
  problems: ReadonlyMap<bigint, readonly FileProblem[]>;
};

/** A row of a sheet of problems. */
export type FileProblem = readonly [row: string, column: string, value: string, problem: string, fix: string];

/** Every file that is no batch yet, and why. */
export function filesView(look: FilesLook, view: View): Html {
  return html`<h1>Files</h1>
<p><a class="go" href="/batches/new">Drop files…</a></p>
${panel('Dropped here, not decided', dropsPart(look, view))}
${panel('In the inbox', inboxPart(look))}
${panel('Refused, or taken without some rows', rejectedPart(look, view))}
${look.mended.length > 0 && panel('Mended, and taken in', mendedPart(look.mended, view))}`;
}

/** Which files had errors, and who mended them; the page of the batch has each cell. */
function mendedPart(mended: readonly MendedBatch[], view: View): Html {
  const rows = mended.map(({ batch, by, cells, at }) => [
    to(['batches', batch], batch),
    by,
    time(at, view),
    countText(cells),
  ]);
  return wideTable('Mended files', ['Batch', 'Mended by', 'When', { number: 'Changed cells' }], rows);
}

function dropsPart({ drops, arriving }: FilesLook, view: View): Html {
  const rows = drops.map((drop) => [
    to(['files', 'checks', drop.id], visible(drop.name)),
    dropVerdict(drop),
    drop.by,
    time(drop.at, view),
  ]);
  return html`${arriving > 0 && html`<p>${countText(arriving)} more arriving.</p>`}${
    rows.length > 0
      ? wideTable('Dropped files', ['File', 'Check', 'By', 'Since'], rows)
      : html`<p>No file waits for a decision.</p>`
  }`;
}

/** What the check of a dropped file found, in short. */
export function dropVerdict({ checked }: Drop): Html {
  if (checked === null) return html`is being checked`;
  const { ok, problems } = checked;
  const count = `${countText(problems)} ${problems === 1 ? 'problem' : 'problems'}`;
  if (!ok) return html`<span class="bad">${count}</span>`;
  return problems > 0
    ? html`<span class="warn">${count}; the other rows can be taken in</span>`
    : html`can be taken in`;
}

function inboxPart({ lying: { files, waiting, ignored }, loading }: FilesLook): Html {
  const whole = files - waiting.length;
  const rows = [
    ...waiting.map(({ name, why }) => [visible(name), waitingWhy(why)]),
    ...ignored.map(({ name, why }) => [visible(name), `it is left alone: ${why}`]),
    ...loading.map((batch) => [to(['batches', batch], batch), 'it is being taken in']),
  ];
  return html`${whole > 0 && html`<p>${countText(whole)} whole, for the next intake.</p>`}${
    rows.length > 0 && wideTable('Files of the inbox', ['File', 'Why it waits'], rows)
  }${whole === 0 && rows.length === 0 && html`<p>The inbox is empty.</p>`}`;
}

function rejectedPart({ rejected, problems, elsewhere }: FilesLook, view: View): Html {
  if (rejected.length === 0) return html`<p>No file was refused.</p>`;
  const rows = rejected.map((file) => [
    sentence(rejectedText({ ...file, errors_file: null }), view),
    time(file.since, view),
    html`${file.errors_file !== null && !elsewhere.has(file.id) && seesBank(view) && html`<a href="/files/rejected/${file.id}/errors.csv" aria-label="Problems of ${visible(file.name)}">Problems (CSV)</a>`}`,
    elsewhere.has(file.id) ? awayText(elsewhere.get(file.id) ?? '') : wayOut(file, view),
    endOf(file, view),
  ]);
  return html`${wideTable('Refused files', ['What', 'Since', { act: 'Problems' }, { act: 'Way out' }, { act: 'Or end it' }], rows)}${rejected.map((file) => problemsPart(file, problems.get(file.id) ?? []))}`;
}

/** Only the host that has a file can copy it to be mended. */
function awayText(host: string): Html {
  if (host === '') return html`Not in the folder of refused files of this machine`;
  return html`It lies on ${host}: mend it on the desk there`;
}

function wayOut({ id, kind, name }: RejectedFile, view: View): Html {
  // A file of expected collections is no batch.
  if (name.startsWith('collections/')) return html`Correct the file and drop it again`;
  if (view.caller.kind === 'token' && !seesBank(view))
    return whoMay(view, 'read', (one) => !view.holders('drop').includes(one));
  const buttons = [{ name: kind === 'taken_before' ? 'See its check' : 'Mend it', plain: true }];
  return form(view, { action: `/files/rejected/${id}/mend`, role: 'drop', fields: [], buttons });
}

/** Ends what is known of a refused file, without another one. */
function endOf({ id, name, kind }: RejectedFile, view: View): Html {
  const label = kind === 'taken_before' ? 'Why it came again' : 'Why nothing is missing';
  const fields = [{ kind: 'note' as const, label, id: `end-${id}`, required: true }];
  const ended = form(view, { action: `/files/rejected/${id}/end`, fields, buttons: [{ name: 'End it' }] });
  return html`<details><summary aria-label="End it: ${visible(name)}">End it…</summary>${ended}</details>`;
}

function problemsPart({ name, problems }: RejectedFile, shown: readonly FileProblem[]): Html {
  if (shown.length === 0) return html``;
  const rows = shown.map(([row, ...cells]) => [row === '' ? 'the file' : row, ...cells.map(visible)]);
  const more = problems - BigInt(shown.length);
  return html`${wideTable(`Problems of ${visible(name)}`, problemColumns, rows, { seen: true })}${more > 0n && html`<p>and ${countText(more)} more, in the CSV</p>`}`;
}
