/** `amount_conflict` as `Amount conflict`. */
export function plainKind(kind: string): string {
  const words = kind.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
