/** The folder of a closed month below the reports. */
export function periodFolder(month: string): string {
  return `period-${month}`;
}
