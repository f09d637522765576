import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Where a request came from, as far as that can be trusted. */
export type RequestSource = { address: string; protocol: 'http' | 'https' };

/** Returns a test for membership in the list of addresses and subnets; nothing is in an empty list. */
export function addressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [host = '', prefix] = entry.split('/');
    const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(host, family);
    else list.addSubnet(host, Number(prefix), family);
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Returns an IPv4 address that came over an IPv6 socket in its plain form; empty for a closed socket. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}

/**
 * The owner of an address, for limits per sender. The owner of one IPv6 address has all 2^64 of its /64 (RFC 4291,
 * 2.5.4), so these count as one.
 */
export function ownerOf(address: string): string {
  if (isIP(address) !== 6) return address;
  // A trailing IPv4 address stands for two groups; a zone (`%eth0`) belongs to the last group.
  const [head = '', tail] = address
    .toLowerCase()
    .replace(/[\d.]*\.\d+/, '0:0')
    .split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail?.split(':').filter((group) => group !== '') ?? [];
  const zeros = Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0');
  const network = [...groups, ...zeros, ...rest].slice(0, 4).map((group) => Number.parseInt(group, 16));
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/**
 * Reads the source of a request. X-Forwarded-For and -Proto count only as far as trusted proxies wrote them: from the
 * right, the first address that is not a proxy's is the sender. `unknown` if a proxy wrote something else.
 */
export function createSourceReader(
  isTrusted: (address: string) => boolean,
): (request: IncomingMessage) => RequestSource {
  return (request) => {
    const peer = plainAddress(request.socket.remoteAddress);
    const protocol = 'encrypted' in request.socket ? 'https' : 'http';
    if (!isTrusted(peer)) return { address: peer, protocol };
    const forwarded = textOf(request.headers['x-forwarded-proto']).split(',').at(-1)?.trim().toLowerCase();
    return {
      address: senderOf(peer, textOf(request.headers['x-forwarded-for']), isTrusted),
      protocol: forwarded === 'https' || forwarded === 'http' ? forwarded : protocol,
    };
  };
}

function senderOf(peer: string, forwarded: string, isTrusted: (address: string) => boolean): string {
  if (forwarded.trim() === '') return peer;
  let sender = peer;
  for (const hop of forwarded.split(',').toReversed()) {
    sender = withoutPort(hop.trim());
    if (isIP(sender) === 0) return 'unknown';
    if (!isTrusted(sender)) return sender;
  }
  return sender;
}

/** Removes the sender's port, which some proxies add: `192.0.2.7:51234`, `[2001:db8::1]:51234`. */
function withoutPort(hop: string): string {
  return plainAddress(/^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? hop.replace(/^([\d.]+):\d+$/, '$1'));
}

function textOf(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}
