/**
 * The fenced blocks of a page that hold commands. Their language is `console`; what follows it says how the block runs:
 *
 *     ```console                        run in order, output compared
 *     ```console (in the background)    runs until the page ends, as in a second terminal; its first lines are compared
 *     ```console (not run: REASON)      cannot run on every machine
 */
export type Block = {
  page: string;
  /** The line of the page where its first command stands, from 1. */
  line: number;
  run: { kind: 'here' } | { kind: 'background' } | { kind: 'not_run'; reason: string };
  steps: Step[];
  /** Where its text stands in the page, without the fences. */
  from: number;
  to: number;
};

/** A command after `$ `, and the lines below it that it prints. */
export type Step = { command: string; output: string[] };

/** Languages of blocks without commands. A page that marks a block otherwise is refused. */
const withoutCommands = new Set([
  '',
  'csv',
  'cron',
  'ini',
  'js',
  'json',
  'mermaid',
  'rc',
  'text',
  'ts',
  'yaml',
]);

/** The page's blocks with commands, in order. Throws for a block that no test could run or skip knowingly. */
export function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(/^( *)```([^\n]*)\n([\s\S]*?)^ *```$/gm)].flatMap((match) => {
    const [, indent = '', info = '', body = ''] = match;
    const [language = '', ...rest] = info.trim().split(' ');
    const from = match.index + indent.length + 3 + info.length + 1;
    const line = text.slice(0, from).split('\n').length;
    if (language !== 'console') {
      if (!withoutCommands.has(language))
        throw new Error(`${page}:${line}: no test knows a block of ${language}`);
      return [];
    }
    const steps = stepsOf(body, indent);
    if (steps.length === 0) throw new Error(`${page}:${line}: no line begins with "$ "`);
    return [
      { page, line, run: runOf(rest.join(' '), `${page}:${line}`), steps, from, to: from + body.length },
    ];
  });
}

function runOf(mark: string, place: string): Block['run'] {
  if (mark === '') return { kind: 'here' };
  if (mark === '(in the background)') return { kind: 'background' };
  const reason = /^\(not run: (.+)\)$/.exec(mark)?.[1];
  if (reason === undefined) throw new Error(`${place}: no test knows the mark ${mark}`);
  return { kind: 'not_run', reason };
}

function stepsOf(body: string, indent: string): Step[] {
  const steps: Step[] = [];
  for (const line of body.split('\n').slice(0, -1)) {
    const text = line.startsWith(indent) ? line.slice(indent.length) : line;
    if (text.startsWith('$ ')) steps.push({ command: text.slice(2), output: [] });
    else if (steps.at(-1)?.command.endsWith('\\')) steps.push(...continued(steps, text));
    else steps.at(-1)?.output.push(text);
  }
  return steps;
}

/** A command that ends with a backslash goes on in the next line. */
function continued(steps: Step[], text: string): Step[] {
  const { command = '' } = steps.pop() ?? {};
  return [{ command: `${command}\n${text}`, output: [] }];
}

/** What differs from run to run, and what stands for it when two outputs are compared. */
const placeholders: [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\b\d{8}T\d{6}Z(-\d+)?/g, 'RUN'],
  [/(?<=-)\d{8}(?=-[0-9a-f]{6}\b)/g, 'DAY'],
  [/\b\d{1,2} [A-Z][a-z]{2}( \d{4})?,? \d\d:\d\d(:\d\d)?/g, 'TIME'],
  [/\b\d{1,2} [A-Z][a-z]{2}( \d{4})?\b|\b\d{4}-\d\d(-\d\d)?\b/g, 'DAY'],
  [/\b\d\d:\d\d(:\d\d)?\b/g, 'TIME'],
  [/\b(sk|pk)_test_\w+|\benc_\w+/g, 'KEY'],
  [/(?<=\/)counterfoil-[a-z]+-\w{6}/g, 'FOLDER'],
  [/(?:\/[\w.@-]+)+(?=\/(?:data|config|trial|reports|node_modules|\.env)\b)/g, 'PATH'],
  [/(?:\/[\w.@-]+)+(?=\/counterfoil-[\d.]+tgz)/g, 'PATH'],
  [/(?<=127\.0\.0\.1:)\d+/g, 'PORT'],
  [/\b[0-9a-f]{12,}\b/g, 'ID'],
  [/\b(trx )?TRX\w+/g, 'TRX'],
  [/\btransfer \d{6}\b/g, 'transfer ID'],
  [/\b\d+(\.\d+)? (ms|s|m|h|d|MiB|GB)\b|\b\d+(\.\d+)?(ms|s|m)\b/g, 'MEASURE'],
  [/\badded \d+ packages/g, 'added N packages'],
  [/\b\d+ (?=look-ups?|resend requests?|passes)/g, 'N '],
  [/submit-ID|\bby \w+$/g, 'WHO'],
  [/ {2,}/g, '  '],
  [/-{3,}|━+|─+/g, '---'],
];

/** The line with placeholders for times, ids, paths and ports. Runs of blanks count as two: tables widen with their cells. */
export function comparable(line: string): string {
  return placeholders.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trimEnd();
}
