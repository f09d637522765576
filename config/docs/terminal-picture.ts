/** Colours of a terminal: the eight of ANSI in their order, then text, ground and frame. */
export type Palette = { ansi: readonly string[]; text: string; ground: string; frame: string };

export const palettes: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    ansi: ['#24292f', '#b3261e', '#1a7f37', '#8a5a00', '#0550ae', '#8250df', '#1b7c83', '#57606a'],
    text: '#24292f',
    ground: '#ffffff',
    frame: '#d0d7de',
  },
  dark: {
    ansi: ['#8b949e', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#b1bac4'],
    text: '#e6edf3',
    ground: '#0d1117',
    frame: '#30363d',
  },
};

const size = { letter: 8.4, line: 19, margin: 18 };
type Style = { colour: string | null; bold: boolean; dim: boolean };
const plain: Style = { colour: null, bold: false, dim: false };

/** What a terminal showed, as a picture in SVG: its text can be selected and stays sharp. */
export function terminalSvg(text: string, palette: Palette): string {
  const lines = text.trimEnd().split('\n').map(lastWritten);
  const columns = Math.max(80, ...lines.map((line) => bare(line).length));
  const width = Math.ceil(columns * size.letter + 2 * size.margin);
  const height = lines.length * size.line + 2 * size.margin;
  let style = plain;
  const rows = lines.map((line, index) => {
    const y = size.margin + index * size.line + 14;
    const drawn = spansOf(line, style, palette);
    style = drawn.style;
    return `<text x="${size.margin}" y="${y}" xml:space="preserve">${drawn.svg}</text>`;
  });
  const frame = `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${palette.ground}" stroke="${palette.frame}"/>`;
  const font = 'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14"';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ${font} fill="${palette.text}">\n${[frame, ...rows].join('\n')}\n</svg>\n`;
}

const start = String.fromCharCode(27);
const isSequence = new RegExp(`${start}\\[([0-9;?]*)([A-Za-z])`, 'g');
const backToStart = new RegExp(`\\r|${start}\\[[01]?G`);
/** Cursors that are kept and put back move nothing in a picture. */
const keptCursor = new RegExp(`${start}[78]`, 'g');
const bare = (line: string): string => line.replace(isSequence, '');

/** A progress bar writes its line again and again; the last time counts. */
function lastWritten(line: string): string {
  const writings = line.replace(keptCursor, '').split(backToStart);
  return writings.findLast((text) => bare(text) !== '') ?? '';
}

function spansOf(line: string, begin: Style, palette: Palette): { svg: string; style: Style } {
  let style = begin;
  let svg = '';
  let from = 0;
  const take = (to: number): void => {
    const text = line.slice(from, to);
    if (text !== '') svg += spanOf(text, style, palette);
  };
  for (const match of line.matchAll(isSequence)) {
    take(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm')
      for (const code of (match[1] ?? '').split(';')) style = styled(style, Number(code), palette);
  }
  take(line.length);
  return { svg, style };
}

function styled(style: Style, code: number, palette: Palette): Style {
  if (code === 0) return plain;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: null };
  const index = code >= 90 ? code - 90 : code - 30;
  return { ...style, colour: palette.ansi[index] ?? style.colour };
}

function spanOf(text: string, { colour, bold, dim }: Style, palette: Palette): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const fill = colour ?? (dim ? palette.ansi[7] : null);
  if (!fill && !bold) return safe;
  return `<tspan${fill ? ` fill="${fill}"` : ''}${bold ? ' font-weight="bold"' : ''}>${safe}</tspan>`;
}
