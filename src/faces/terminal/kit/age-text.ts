const minuteMs = 60_000;
const units: readonly [name: string, ms: number][] = [
  ['d', 24 * 60 * minuteMs],
  ['h', 60 * minuteMs],
  ['min', minuteMs],
];

/** How long ago an instant was, in its largest unit: `2 d`, `4 h`, `5 min`; `now` below a minute. */
export function ageText(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant);
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? ['', 1];
  return name === '' ? 'now' : `${Math.floor(ms / size)} ${name}`;
}
