/** What the service says it did: a transfer as it lists it. */
export type Transfer = { reference: string; amount: string; status: string; createdAt: number };

/** Reads the service's whole list; nothing may change meanwhile. Throws when it does. */
export async function readBook(url: string, key: string): Promise<Transfer[]> {
  const read = async (page: number) => {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await fetch(`${url}/api/v1/fetch_all_transfers?page=${page}`, { headers });
    const { data }: { data: { data: Record<string, string>[]; total: number; last_page: number } } =
      JSON.parse(await reply.text());
    return data;
  };
  const { total, last_page: last } = await read(1);
  const transfers = new Map<string, Transfer>();
  for (let from = 1; from <= last; from += 16) {
    const pages = Array.from({ length: Math.min(16, last - from + 1) }, (_, i) => read(from + i));
    for (const { data } of await Promise.all(pages)) {
      for (const { id = '', reference = '', amount = '', status = '', created_at = '' } of data)
        transfers.set(id, { reference, amount, status, createdAt: Date.parse(created_at) });
    }
  }
  if (transfers.size !== total)
    throw new Error(`the list shows ${transfers.size} transfers and says ${total}`);
  return [...transfers.values()];
}
