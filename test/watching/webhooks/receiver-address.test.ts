import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ownerOf } from '../../../src/watching/webhooks/receiver-address.ts';
import { createConnections } from '../../../src/watching/webhooks/receiver-connections.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['unknown', 'unknown'],
  ['', ''],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::5', '2001:db8:0:0::/64'],
  ['2001:db8:1:2::ffff:9', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1:2:3:4::', '1:2:3:4::/64'],
  ['::5:6:7:8:9:a:b', '0:5:6:7::/64'],
  ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.33', '1:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('the address %s belongs to %s', (address, owner) => {
  expect(ownerOf(address)).toBe(owner);
});

it('a /64 of IPv6 is one sender: another address of it makes no more room, one of another /64 does', () => {
  const connections = createConnections({
    limits: { total: 100, perAddress: 2, heldBytes: 1000 },
    isExempt: () => false,
    tellsWhy: false,
  });
  const come = (address: string): Socket => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: address });
    connections.admit(socket);
    return socket;
  };
  const [first, second] = [come('2001:db8:1:2::1'), come('2001:db8:1:2:ffff::2')];
  const elsewhere = come('2001:db8:1:3::1');
  expect([first.destroyed, second.destroyed, elsewhere.destroyed]).toEqual([false, false, false]);
  const third = come('2001:db8:1:2:abcd:1234::3');
  expect([first.destroyed, second.destroyed, elsewhere.destroyed]).toEqual([true, false, false]);
  expect(third.destroyed).toBe(false);
});
