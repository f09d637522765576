/** Why a file has no totals by its own columns. */
export const noColumnTotals =
  'The file has no column beside ours with so few values that totals would say something.';
