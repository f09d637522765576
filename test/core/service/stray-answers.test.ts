import { expect, it } from 'vitest';
import { httpReply, type RawRequest, startRawService } from '../../support/raw-service.ts';
import { clientOf, closers } from './orders.ts';

const accepted = (reference: string): string =>
  httpReply(
    200,
    `{"success":true,"status":"00","message":"ok","data":{"transfer_id":"481","reference":"${reference}"}}`,
  );
const refused = httpReply(400, '{"success":false,"status":"24","message":"no such amount"}');
const throttled = httpReply(429, '{"success":false,"status":"429","message":"too many"}');
const throttledByEdge = httpReply(429, '<html>slow down</html>');
const notFound = httpReply(404, '{"success":false,"status":"04","message":"not found"}');
const details = (reference: string, status: string): string =>
  httpReply(
    200,
    `{"success":true,"status":"00","data":{"transfer_id":"481","reference":"${reference}","status":"${status}"}}`,
  );
const page = (number: number): string =>
  httpReply(
    200,
    `{"success":true,"status":"00","data":{"current_page":${number},"last_page":3,"per_page":50,"total":101,"data":[]}}`,
  );

async function talk(answer: (request: RawRequest & { reference: string; isOrder: boolean }) => void) {
  const service = await startRawService((request) => {
    const isOrder = request.head.startsWith('POST');
    const named = isOrder
      ? /"reference":"([^"]+)"/.exec(request.body)
      : /details\/([^ ]+)/.exec(request.head);
    answer({ ...request, isOrder, reference: named?.[1] ?? '' });
  });
  closers.push(service.stop);
  const client = clientOf(service.url, 2000);
  const send = (reference: string) =>
    client.bankTransfer(`{"reference":"${reference}"}`, reference, () => true);
  const bodies = () => service.bodies.filter((body) => body !== '');
  return { service, client, send, bodies };
}

it.each([
  ['at once', 0],
  ['a moment later', 40],
])(
  'P6: a stray refusal that overtakes the answer to a taken order, which comes %s, refuses nothing',
  async (_, ms) => {
    const { send, bodies } = await talk(({ socket, isOrder, reference }) => {
      if (!isOrder) return void socket.write(notFound);
      if (reference === 'R-1') return void socket.write(accepted('R-1'));
      socket.write(refused);
      setTimeout(() => socket.write(accepted(reference)), ms);
    });
    expect((await send('R-1')).kind).toBe('accepted');
    expect((await send('R-2')).kind).toBe('unknown');
    expect(bodies()).toHaveLength(2);
  },
);

it('P6: a stray refusal is not believed when the answer to the order never comes', async () => {
  const { send, bodies } = await talk(({ socket, isOrder, reference }) => {
    if (isOrder) socket.write(reference === 'R-1' ? accepted('R-1') : refused);
  });
  await send('R-1');
  expect((await send('R-2')).kind).toBe('unknown');
  expect(bodies()).toHaveLength(2);
});

it('P6: two stray refusals in a row refuse nothing either', async () => {
  const { send } = await talk(({ socket, isOrder, reference }) => {
    if (isOrder)
      socket.write(reference === 'R-1' ? accepted('R-1') : refused + refused + accepted(reference));
  });
  await send('R-1');
  expect((await send('R-2')).kind).toBe('unknown');
});

it('P6: an order on a socket of its own that is refused and then accepted is unknown', async () => {
  const { send, bodies } = await talk(({ socket, isOrder, reference }) => {
    if (!isOrder) return void socket.write(notFound);
    socket.write(refused);
    setTimeout(() => socket.write(accepted(reference)), 20);
  });
  expect((await send('R-1')).kind).toBe('unknown');
  expect(bodies()).toHaveLength(1);
});

it('P6: an acceptance that waits unread while this process stands still is read before the refusal counts', async () => {
  const { send, bodies } = await talk(({ socket, isOrder }) => {
    socket.write(isOrder ? refused : notFound);
    // As timers come first in a turn of the event loop, the wait for a surplus answer ends before that one is read.
    const standStill = () => {
      socket.write(accepted('R-1'));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    };
    if (!isOrder) setTimeout(() => setImmediate(standStill), 20);
  });
  expect((await send('R-1')).kind).toBe('unknown');
  expect(bodies()).toHaveLength(1);
});

it('P6: a refusal that names no reference counts when the same socket then answers the next question', async () => {
  const { service, send, bodies } = await talk(({ socket, isOrder, reference }) =>
    socket.write(isOrder ? (reference === 'R-2' ? refused : accepted(reference)) : notFound),
  );
  expect((await send('R-1')).kind).toBe('accepted');
  expect(await send('R-2')).toMatchObject({ kind: 'refused', code: '24' });
  expect(service.connections(), 'asked on the socket of the order').toBe(1);
  expect((await send('R-3')).kind).toBe('accepted');
  expect(bodies()).toHaveLength(3);
});

it('P6: a refusal that names no reference and ends its socket, which carried nothing else, counts', async () => {
  const { service, send } = await talk(({ socket }) =>
    socket.end(refused.replace('\r\n', '\r\nconnection: close\r\n')),
  );
  expect((await send('R-1')).kind).toBe('refused');
  // A connection for a question would be there by now.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(service.connections(), 'nothing is asked elsewhere').toBe(1);
});

it('P6: a refusal on a socket that carried nothing else needs no answer to the next question', async () => {
  const { send } = await talk(({ socket, isOrder }) =>
    socket.write(isOrder ? refused : httpReply(502, '<html>')),
  );
  expect((await send('R-1')).kind).toBe('refused');
});

it('P6: a refused order that the service shows as a transfer is unknown', async () => {
  const { send } = await talk(({ socket, isOrder, reference }) =>
    socket.write(isOrder ? refused : details(reference, 'pending')),
  );
  expect((await send('R-1')).kind).toBe('unknown');
});

for (const [whose, tooMany] of [
  ["the service's", throttled],
  ["an edge's", throttledByEdge],
] as const) {
  it(`P8: a stray 429 of ${whose} that overtakes the answer to a taken order turns nothing away`, async () => {
    const { send, bodies } = await talk(({ socket, isOrder, reference }) => {
      if (!isOrder) return void socket.write(notFound);
      if (reference === 'R-1') return void socket.write(accepted('R-1'));
      socket.write(tooMany);
      setTimeout(() => socket.write(accepted(reference)), 40);
    });
    await send('R-1');
    expect((await send('R-2')).kind).toBe('unknown');
    expect(bodies()).toHaveLength(2);
  });

  it(`P8: a stray 429 of ${whose} is not believed when the answer to the order never comes`, async () => {
    const { send } = await talk(({ socket, isOrder, reference }) => {
      if (isOrder) socket.write(reference === 'R-1' ? accepted('R-1') : tooMany);
    });
    await send('R-1');
    expect((await send('R-2')).kind).toBe('unknown');
  });

  it(`P8: two stray 429s of ${whose} turn nothing away either`, async () => {
    const { send } = await talk(({ socket, isOrder, reference }) => {
      if (isOrder) socket.write(reference === 'R-1' ? accepted('R-1') : tooMany + tooMany);
    });
    await send('R-1');
    expect((await send('R-2')).kind).toBe('unknown');
  });

  it(`P8: ${whose} 429 counts when the same socket then says it again, or does not find the order`, async () => {
    for (const next of [tooMany, notFound]) {
      const { service, send } = await talk(({ socket, isOrder, reference }) => {
        if (!isOrder) return void socket.write(next);
        socket.write(reference === 'R-1' ? accepted('R-1') : tooMany);
      });
      await send('R-1');
      expect((await send('R-2')).kind).toBe('turned_away');
      expect(service.connections()).toBe(1);
    }
  });

  it(`P8: ${whose} 429 on a socket that carried nothing else counts`, async () => {
    const { send } = await talk(({ socket }) => void socket.write(tooMany));
    expect((await send('R-1')).kind).toBe('turned_away');
  });
}

it('P9: after an answer that names another order the socket carries nothing more', async () => {
  const { service, send } = await talk(({ socket, reference, number }) =>
    socket.write(number === 2 ? accepted('R-1') : accepted(reference)),
  );
  expect((await send('R-1')).kind).toBe('accepted');
  expect((await send('R-2')).kind).toBe('unknown');
  expect((await send('R-3')).kind).toBe('accepted');
  expect(service.connections()).toBe(2);
});

it('P16: a stray "not found" that overtakes the details of a transfer is no absence', async () => {
  const { service, client } = await talk(({ socket, reference, number }) =>
    socket.write(number === 2 ? notFound + details(reference, 'success') : details(reference, 'success')),
  );
  await client.fetchTransferDetails('R-1');
  expect(await client.fetchTransferDetails('R-2')).toMatchObject({
    json: { data: { reference: 'R-2', status: 'success' } },
  });
  expect(service.connections(), 'asked again on a socket of its own').toBe(2);
});

it('P13: the details of another transfer are not taken for the answer', async () => {
  const { client } = await talk(({ socket, reference, number }) =>
    socket.write(details(number === 2 ? 'R-1' : reference, 'success')),
  );
  await client.fetchTransferDetails('R-1');
  expect(await client.fetchTransferDetails('R-2')).toMatchObject({ json: { data: { reference: 'R-2' } } });
});

it('P16: "not found" is believed from a socket that carried nothing else', async () => {
  const { service, client } = await talk(({ socket }) => socket.write(notFound));
  for (const reference of ['R-1', 'R-2'])
    expect(await client.fetchTransferDetails(reference)).toMatchObject({ json: { status: '04' } });
  expect(service.heads).toHaveLength(2);
});

it('P28: a page that is not the one asked for is asked for again, then not understood', async () => {
  let pages = [1, 1, 2];
  const { client } = await talk(({ socket }) => socket.write(page(pages.shift() ?? 1)));
  await client.listPage(1);
  expect(await client.listPage(2)).toMatchObject({ kind: 'page', page: { page: 2 } });
  pages = [];
  expect(await client.listPage(3)).toMatchObject({ kind: 'trouble', reason: 'not_understood' });
});
