import type { RouteOptions } from 'fastify';
import { type Caller, hasRight, type Right } from '../../admin/access.ts';
import type { RouteDeps } from '../../admin/admin-server.ts';

/** Knows which pages a reader may open, from the rights that their routes name. */
export function createWays(admin: Pick<RouteDeps, 'holders'>) {
  const pages: { pattern: RegExp; right: Right | 'none' }[] = [];
  const rightOf = (address: string): Right | 'none' => {
    const [path = ''] = address.split(/[?#]/, 1);
    return pages.find(({ pattern }) => pattern.test(path))?.right ?? 'figures';
  };
  return {
    /** Notes a route that is added. */
    note({ method, url, config }: RouteOptions): void {
      if (![method].flat().includes('GET')) return;
      const pattern = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+').replace('*', '.*')}$`);
      // A path of fixed words goes before one that has a name in it.
      const one = { pattern, right: config?.right ?? ('figures' as const) };
      if (/[:*]/.test(url)) pages.push(one);
      else pages.unshift(one);
    },
    /** Whether a link to it leads somewhere. Who is not signed in is asked to, where anybody has the right. */
    isOpen(caller: Caller, address: string): boolean {
      const right = rightOf(address);
      if (right === 'none' || hasRight(caller, right)) return true;
      return caller.kind !== 'token' && right !== 'figures' && admin.holders(right).length > 0;
    },
  };
}
