import type { Role } from '../core/settings/settings-schema.ts';

const mostNames = 3;

/** Names of people, a few at most: `ada, bola or femi`. */
export function someNames(names: readonly string[]): string {
  const shown = names.slice(0, mostNames);
  const more = names.length - shown.length;
  const all = more > 0 ? [...shown, `${more} more`] : shown;
  return all.length > 1 ? `${all.slice(0, -1).join(', ')} or ${all.at(-1)}` : (all[0] ?? '');
}

/**
 * Whom to ask for what the reader may not do. `holders`: the people who have the role. `not`: those of them who may not in
 * this case.
 */
export function askFor(
  role: Role,
  holders: readonly string[],
  not: (name: string) => boolean = () => false,
): string {
  const others = holders.filter((name) => !not(name));
  if (others.length > 0) return `ask ${someNames(others)}, who may do it (role ${role})`;
  return holders.length > 0
    ? `one more person is needed: the operator gives somebody else the role ${role} in admin.roles`
    : `nobody may do it: the operator gives the role ${role} in admin.roles`;
}
