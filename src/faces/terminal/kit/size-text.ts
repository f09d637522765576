const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size for people: `17 KiB`, `1.4 GiB`. */
export function sizeText(bytes: number): string {
  let size = Math.max(0, bytes);
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
