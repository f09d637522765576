/** A reference or a batch behind a command: a word of small letters alone is no name. */
const named = String.raw`(?: (?=[\w.-]*[A-Z0-9])[\w.-]*\w)?`;
const noted = `(?: --note "[^"]*")?`;

/** What a person at the desk does instead of a command; the first that fits counts. What is not here, the operator does. */
const deeds: readonly (readonly [command: string, deed: string])[] = [
  [String.raw`settle${named}(?: --as \S*\w)?${noted}(?: \(or --as not-paid\))?`, '“Settle by hand”'],
  [`retry${named}`, '“Pay it again”'],
  [`release --mode(?! --evidence)`, '“Release” on Today'],
  [`release(?! --mode)${named}`, '“Release”'],
  [`submit, serve or release${named}`, 'the next submit'],
  [`approve${named}`, '“Review and approve”'],
  [`cancel${named}`, '“Cancel”'],
  ['reconcile --full', '“Reconcile the whole list”'],
  ['reconcile', '“Reconcile now”'],
  [String.raw`discrepancies(?: resolve \S+)?(?: --kind \w+)?${noted}`, 'the list of discrepancies'],
  [`show${named}`, 'its page'],
  ['submit(?: --live)?', 'the next submit'],
  [`report${named}`, 'the next report'],
];

const patterns = deeds.map(([command, deed]) => [new RegExp(`counterfoil ${command}`, 'g'), deed] as const);

/** A sentence for a person at the desk, who types no command: it names what the desk has, or the operator. */
export function onDesk(sentence: string): string {
  const used = sentence.replaceAll(/\b([Rr])un (?=counterfoil )/g, (_run, r: string) =>
    r === 'R' ? 'Use ' : 'use ',
  );
  const said = patterns.reduce((text, [pattern, deed]) => text.replaceAll(pattern, deed), used);
  const whole = said.replaceAll(/counterfoil ([a-z]+)/g, 'the operator’s $1');
  return whole.replaceAll(
    /(?<=[.!?]\s)(?:the (?:operator|list|next)|its page)/g,
    (deed) => deed[0]?.toUpperCase() + deed.slice(1),
  );
}
