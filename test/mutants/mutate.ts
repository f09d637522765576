import { parseSync, visitorKeys } from 'oxc-parser';
import { sqlChanges } from './sql-changes.ts';

/** One small change of a source file. `from` and `to` are source text; `nth` counts the mutants of its line. */
export type Mutant = { file: string; line: number; nth: number; from: string; to: string };

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

/** The name that `npm run mutants` takes and prints. */
export const nameOf = ({ file, line, nth }: Mutant): string => `${file}:${line}:${nth}`;

const mapOf = (pairs: Record<string, string>): Map<string, string> => new Map(Object.entries(pairs));

const swaps = mapOf({
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '-': '+',
  '+': '-',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
});
const calls = mapOf({ some: 'every', every: 'some', min: 'max', max: 'min' });
const operators = new Map([...swaps, ...mapOf({ '=': '!=', '!=': '=', is: 'is not', 'is not': 'is' })]);
/** Steps of a chain that a mutant leaves out. */
const dropped = new Set(['where', 'whereRef', 'orderBy', 'limit', 'filter', 'having', 'toSorted', 'slice']);
const conditional = new Set(['IfStatement', 'ConditionalExpression']);
const looping = new Set(['WhileStatement', 'DoWhileStatement', 'ForStatement']);
const untouched =
  /^(TS(?!As|Satisfies|NonNull)|Import|ExportAll)|^(typeAnnotation|typeArguments|typeParameters|returnType)$/;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

/**
 * Puts all mutants of a file into its text, each behind `__mutant(number)`: the number is its place in the list plus
 * `first`. The text is that of the file while no mutant is active.
 */
export function mutate(file: string, source: string, first = 0): { mutants: Mutant[]; text: string } {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const mutants: Mutant[] = [];
  const raw = ({ start, end }: Node): string => source.slice(start, end);

  function add(node: Node, to: string): string {
    const { start, ...texts } = lineOf(raw(node), to);
    const line = source.slice(0, node.start + start).split('\n').length;
    const nth = 1 + mutants.filter((one) => one.line === line).length;
    mutants.push({ file, line, nth, ...texts });
    return `__mutant(${first + mutants.length - 1}) ? (${to}) : `;
  }

  function put(node: Node, parent: Node, key: string, inChain: boolean): string {
    // The numbers of a node come before those of its parts.
    const guards = changes(node, parent, key, inChain, raw).map((to) => add(node, to));
    const parts: string[] = [];
    let at = node.start;
    const children = (visitorKeys[node.type] ?? [])
      .filter((name) => !untouched.test(name) && !isPlace(node, name))
      .flatMap((name) => [node[name]].flat().map((child) => ({ name, child })))
      .filter((one): one is { name: string; child: Node } => isNode(one.child))
      .filter(({ child }) => !untouched.test(child.type))
      .toSorted((a, b) => a.child.start - b.child.start);
    for (const { name, child } of children) {
      if (child.start < at) continue;
      const chained =
        node.type === 'ChainExpression' || (inChain && (name === 'callee' || name === 'object'));
      parts.push(source.slice(at, child.start), put(child, node, name, chained));
      at = child.end;
    }
    const whole = parts.join('') + source.slice(at, node.end);
    return guards.length === 0 ? whole : `(${guards.join('')}(${whole}))`;
  }
  const { body } = program as unknown as { body: Node[] };
  let text = '';
  let at = 0;
  for (const node of body) {
    if (untouched.test(node.type)) continue;
    text += source.slice(at, node.start) + put(node, node, 'body', false);
    at = node.end;
  }
  return { mutants, text: text + source.slice(at) };
}

/** Of a change within several lines: the line that differs, before and after, and where it differs. */
function lineOf(from: string, to: string): { start: number; from: string; to: string } {
  if (!from.includes('\n')) return { start: 0, from, to };
  let start = 0;
  while (start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const lines = (text: string): string => {
    const until = text.indexOf('\n', text.length - end);
    return text
      .slice(text.lastIndexOf('\n', start - 1) + 1, until < 0 ? undefined : until)
      .replaceAll(/\s+/g, ' ')
      .trim();
  };
  return { start, from: lines(from), to: lines(to) };
}

/** True for a part that is assigned to, or names something: it cannot become another expression. */
function isPlace(node: Node, name: string): boolean {
  if (name === 'key') return node.computed !== true;
  if (name === 'left') return /^(Assignment|ForOf|ForIn)/.test(node.type);
  return name === 'argument' && node.type === 'UpdateExpression';
}

/** What a node is replaced by, one text a mutant. */
function changes(
  node: Node,
  parent: Node,
  key: string,
  inChain: boolean,
  raw: (node: Node) => string,
): string[] {
  const isTest = key === 'test' && (conditional.has(parent.type) || looping.has(parent.type));
  const found: string[] = [];
  if (isTest) found.push(...(looping.has(parent.type) ? ['false'] : ['true', 'false']));
  if (
    parent.type === 'LogicalExpression' &&
    !(node.type === parent.type && node.operator === parent.operator)
  ) {
    if (parent.operator === '&&') found.push('true');
    if (parent.operator === '||') found.push('false');
  }
  const [left, right] = [node.left, node.right].map((side) => (isNode(side) ? raw(side) : ''));
  const swap = swaps.get(String(node.operator));
  switch (node.type) {
    case 'LogicalExpression':
      return node.operator === '??' ? [...found, `${left}`, `${right}`] : found;
    case 'BinaryExpression': {
      const isText = node.operator === '+' && /['"`]/.test(raw(node));
      // A condition that is always one or the other says as much as its opposite.
      const isCovered = found.length > 0 && /[!=]==/.test(String(node.operator));
      return swap === undefined || isText || isCovered ? found : [...found, `${left} ${swap} ${right}`];
    }
    case 'AssignmentExpression':
      return swap === undefined ? found : [...found, `${left} ${swap} ${right}`];
    case 'UnaryExpression':
      return node.operator === '!' && found.length === 0 ? [raw(node.argument as Node)] : found;
    case 'Literal':
      return [...found, ...literalChanges(node, parent, key, raw)];
    case 'AwaitExpression':
      return key === 'expression' && parent.type === 'ExpressionStatement' ? ['undefined'] : found;
    case 'CallExpression':
      return [...found, ...callChanges(node, parent, inChain, raw)];
    case 'TaggedTemplateExpression':
      return raw(node.tag as Node) === 'sql' ? [...found, ...sqlOf(node, raw)] : found;
    default:
      return found;
  }
}

function literalChanges(node: Node, parent: Node, key: string, raw: (node: Node) => string): string[] {
  if (typeof node.bigint === 'string') return [`${raw(node)} + 1n`];
  if (typeof node.value === 'number') return [`${raw(node)} + 1`];
  if (typeof node.value === 'boolean') return [String(!node.value)];
  if (typeof node.value !== 'string' || key !== 'arguments' || parent.type !== 'CallExpression') return [];
  const operator = operators.get(node.value);
  return (parent.arguments as Node[])[1] === node && operator !== undefined ? [`'${operator}'`] : [];
}

function callChanges(node: Node, parent: Node, inChain: boolean, raw: (node: Node) => string): string[] {
  if (parent.type === 'ExpressionStatement') return ['undefined'];
  const callee = node.callee as Node;
  if (inChain || callee.type !== 'MemberExpression') return [];
  const [object, property] = [callee.object as Node, raw(callee.property as Node)];
  if (dropped.has(property)) return [raw(object)];
  const other = calls.get(property);
  return other === undefined ? [] : [`${raw(object)}.${other}${raw(node).slice(raw(callee).length)}`];
}

function sqlOf(node: Node, raw: (node: Node) => string): string[] {
  const statement = raw(node.quasi as Node);
  const tag = raw(node).slice(0, -statement.length);
  return sqlChanges(statement).map((changed) => tag + changed);
}
