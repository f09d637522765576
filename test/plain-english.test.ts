import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A sentence longer than this is split, or its idea is simpler than its words. */
const longestSentence = 25;

/** Turns of phrase that a reader has to translate, each with the plain one (docs/contributing.md). */
const unplain: [RegExp, string][] = [
  [/\bfor (?:him |her |those )?who(?:ever)?\b/i, 'say who, or leave it out'],
  [
    /\bwho(?:ever)? (?:drops|asks|reads|sends|waits|adopts|opens|shut)\b/i,
    'the process that …, a person who …',
  ],
  [/\bwhoever\b/i, 'the process, the person'],
  [/\banew\b/i, 'again'],
  [/\bno word\b/i, 'no answer'],
  [/\bnobody'?s?\b.*\bbecomes\b|\bbecomes nobody'?s\b/i, 'belongs to no payout'],
  [/\bafter all\b/i, 'say what happened'],
  [/\bstays said\b/i, 'stays recorded'],
  [/\bwhat is over\b/i, 'what has ended'],
  [/\bfor good\b/i, 'permanently, finally'],
  [/\bword on\b|\bon its word\b|\bperson.s word\b/i, 'decision, evidence'],
  [/\bput by\b|\bheard of\b|\btold of\b/i, 'stored, known'],
  [/\bof the mode\b/i, 'a ledger has one mode'],
  [/\bbeforehand\b/i, 'before'],
  [/\bat once with\b/i, 'together with'],
  [/\bthat is to be\b/i, 'that must be'],
  [/\bwhat one\b/i, 'what a …'],
  [/\bwhosever\b/i, 'whichever …'],
  [/\btaken? for dead\b/i, 'considered dead, others may have taken over'],
  [/\btold apart\b/i, 'distinguished'],
];

type Text = { where: string; text: string };

/** Comments of a source file, each as one text; a block's lines are joined. */
function commentsOf(path: string, source: string): Text[] {
  const blocks = [...source.matchAll(/\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n)+)/gm)];
  return blocks.map((block) => ({
    where: `${path}:${source.slice(0, block.index).split('\n').length}`,
    text: (block[1] ?? block[2] ?? '').replace(/^\s*(?:\*|\/\/)\s?/gm, ''),
  }));
}

/** String literals that hold a phrase for people: at least four words. */
function messagesOf(path: string, source: string): Text[] {
  // SQL and style sheets have their own grammar, and their files word nothing for people.
  if (/\.sql\.ts$|\/migrations\/|[-/]style\.ts$/.test(path)) return [];
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ' '));
  return [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)]
    .map((match) => ({
      where: `${path}:${code.slice(0, match.index).split('\n').length}`,
      text: match[1] ?? match[2] ?? '',
    }))
    .filter(
      ({ text }) =>
        text.split(/\s+/).length >= 4 &&
        !/\b(?:select|insert|update|delete|create|from|where)\b.*[=(]/s.test(text),
    );
}

/** The prose of a page: neither code, tables, nor headings. */
function proseOf(path: string, page: string): Text[] {
  const prose = page.replace(/```[\s\S]*?```/g, '').replace(/^(?:\||#).*$/gm, '');
  return prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/).map((text) => ({ where: path, text }));
}

function sentencesOf(text: string): string[] {
  return text
    .replace(/<[^>]*>/g, '\n\n')
    .replace(
      /`[^`]*`|\([^)]*\)|\[([^\]]*)\]\([^)]*\)|\$\{[^}]*\}/g,
      (all, link) => link ?? (all.startsWith('(') ? '' : 'X'),
    )
    .split(/(?<=[.:;!?])\s+|\n\s*\n/)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

const tooLong = ({ where, text }: Text): string[] =>
  sentencesOf(text)
    .filter((one) => one.split(/\s+/).length > longestSentence)
    .map((one) => `${where}: ${one.split(/\s+/).length} words: ${one.slice(0, 80)}`);

const unplainIn = ({ where, text }: Text): string[] =>
  unplain
    .filter(([pattern]) => pattern.test(text.replace(/\s+/g, ' ')))
    .map(
      ([pattern, instead]) => `${where}: ${pattern.exec(text.replace(/\s+/g, ' '))?.[0]} (write: ${instead})`,
    );

const files = (folder: string, ends: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ends.test(name))
    .map((name) => join(folder, name));

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = ['src', 'jobs'].flatMap((folder) => files(folder, /\.(ts|js)$/));
const texts: Text[] = [
  ...sources.flatMap((path) => [...commentsOf(path, read(path)), ...messagesOf(path, read(path))]),
  ...['README.md', 'SECURITY.md', ...files('src', /README\.md$/), ...files('docs', /\.md$/)].flatMap((path) =>
    proseOf(path, read(path)),
  ),
];

describe('what people read', () => {
  it('uses plain words', () => {
    expect(texts.flatMap(unplainIn)).toEqual([]);
  });

  it(`has no sentence of more than ${longestSentence} words`, () => {
    expect(texts.flatMap(tooLong)).toEqual([]);
  });
});

describe('the check itself', () => {
  it('sees what it looks for', () => {
    expect(unplainIn({ where: 'a', text: 'For who does not ask' })).toHaveLength(1);
    expect(tooLong({ where: 'a', text: 'word '.repeat(longestSentence + 1) })).toHaveLength(1);
    expect(tooLong({ where: 'a', text: 'A short one. Another one.' })).toEqual([]);
  });
});
