/** What a clock on the wall shows: the day, and the minutes since its midnight. */
export type LocalTime = { date: string; minutes: number };

/** Reads the wall clock of a zone, by the runtime's own calendar and not by the product's. */
export function localTimeIn(zone: string): (ms: number) => LocalTime {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return (ms) => {
    const [date = '', time = ''] = format.format(ms).split(' ');
    const [hours, minutes] = time.split(':').map(Number);
    return { date, minutes: (hours ?? 0) * 60 + (minutes ?? 0) };
  };
}
