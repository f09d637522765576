import { createHash } from 'node:crypto';
import { type Html, html, trusted } from './html.ts';

/** A whole page. It loads nothing: its style and its only script are inside. `head`: what else its head holds. */
export function pageFrame(page: {
  title: string;
  style: string;
  script?: string;
  head?: Html;
  body: Html;
}): string {
  const { title, style, script, head, body } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head ?? ''}<title>${title}</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${body}${script !== undefined && html`<script>${trusted(script)}</script>\n`}</body>
</html>
`.toString();
}

/** A page that is opened from the disk: it brings its own policy. */
export function filePage(page: { title: string; style: string; script?: string; body: Html }): string {
  const run = page.script === undefined ? '' : `; script-src ${sourceOf(page.script)}`;
  const policy = trusted(`default-src 'none'; style-src 'unsafe-inline'${run}`);
  return pageFrame({
    ...page,
    head: html`<meta http-equiv="Content-Security-Policy" content="${policy}">\n`,
  });
}

/** The source by which a Content-Security-Policy allows this style or script, and no other. */
export function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
