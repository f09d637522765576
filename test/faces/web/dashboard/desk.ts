import { type PersonName, type Served, serveApi, tokenOf } from '../../api/support.ts';

const people = JSON.stringify({
  dayo: ['drop'],
  ada: ['approve', 'read', 'drop'],
  femi: ['decide', 'read'],
  rita: ['read', 'drop'],
  eve: [],
});

type Page = { status: number; text: string; headers: Headers; location: string };

/** A desk on a real daemon, and what a person does there. */
export async function openDesk(
  settings: Record<string, string> = {},
  begin?: Parameters<typeof serveApi>[2],
  options: Parameters<typeof serveApi>[0] = {},
) {
  const served: Served = await serveApi(
    options,
    { COUNTERFOIL_ADMIN_ROLES: people, COUNTERFOIL_SCHEDULES_SUBMIT: '', ...settings },
    begin,
  );
  const { url, home } = served;
  const ask = async (name: PersonName | null, path: string, init: RequestInit = {}): Promise<Page> => {
    const reply = await fetch(`${url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: {
        ...(name !== null && { authorization: `Bearer ${tokenOf(name)}` }),
        ...Object.fromEntries(new Headers(init.headers)),
      },
    });
    const { status, headers } = reply;
    return { status, text: await reply.text(), headers, location: headers.get('location') ?? '' };
  };
  const formOf = async (name: PersonName): Promise<string> =>
    /name="form" value="([^"]+)"/.exec((await ask(name, '/batches/new')).text)?.[1] ?? '';
  const drop = async (
    name: PersonName,
    files: Record<string, string | Buffer>,
    form?: string,
  ): Promise<Page> => {
    const body = new FormData();
    const token = form ?? (await formOf(name));
    if (token !== '') body.append('form', token);
    for (const [file, content] of Object.entries(files))
      body.append('files', new Blob([Buffer.from(content)]), file);
    return ask(name, '/batches/new', { method: 'POST', body });
  };
  const post = async (name: PersonName, path: string, fields: Record<string, string> = {}): Promise<Page> =>
    ask(name, path, { method: 'POST', body: new URLSearchParams({ form: await formOf(name), ...fields }) });
  /** Presses *Take it in* on the page of a check, as it stands there. */
  const hiddenIn = (text: string): Record<string, string> =>
    Object.fromEntries(
      [...text.matchAll(/type="hidden" name="(digest|content)" value="([^"]*)"/g)].map(
        ([, key = '', value = '']) => [key, value],
      ),
    );
  const take = async (name: PersonName, at: string): Promise<Page> =>
    post(name, `${at}/take`, hiddenIn((await ask(name, at)).text));
  return { home, url, ask, drop, post, take, hiddenIn, formOf };
}
