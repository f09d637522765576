import type { DrillHome } from './home.ts';
import { token } from './home.ts';

/** What an operator can see of a home at one moment; null where nothing answers. */
export type Signals = {
  readyz: { ready: boolean; problems: { check: string; problem: string; fix: string }[] } | null;
  metrics: Map<string, number> | null;
  /** The text of the first page without its marks. */
  dashboard: string | null;
};

const patienceMs = 8000;

/** Asks the three addresses as a monitor and a browser do. */
export async function readSignals({ admin }: Pick<DrillHome, 'admin'>): Promise<Signals> {
  const [readyz, metrics, page] = await Promise.all(
    ['/readyz', '/metrics', '/'].map((path) => ask(`${admin}${path}`)),
  );
  return {
    readyz: readyz == null ? null : JSON.parse(readyz),
    metrics: metrics == null ? null : samplesIn(metrics),
    dashboard: page == null ? null : textIn(page),
  };
}

async function ask(url: string): Promise<string | null> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await fetch(url, { headers, signal: AbortSignal.timeout(patienceMs) });
    const text = await reply.text();
    // A server that is closing turns connections away in plain text: that is no answer to what was asked.
    return reply.status === 503 && text === 'try again later' ? null : text;
  } catch {
    return null;
  }
}

/** The samples of a metric text, by name and labels. */
export function samplesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

function textIn(page: string): string {
  const body = page.replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, '');
  return body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
}
