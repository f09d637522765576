import type { Obstacle } from '../../verbs/obstacles.ts';

/** The HTTP status of an order that did nothing: no such thing, too late, wrong in itself, or not for this person. */
export const obstacleStatus: Record<Obstacle['kind'], 403 | 404 | 409 | 422> = {
  no_batch: 404,
  no_payout: 404,
  unaskable: 422,
  no_collection: 404,
  no_run: 404,
  unfinished_run: 409,
  open_month: 409,
  not_closed: 409,
  loading: 409,
  cancelled: 409,
  unsound: 409,
  needless: 409,
  own: 403,
  changed: 409,
  no_discrepancy: 404,
  closed: 409,
  no_note: 422,
  long_note: 422,
  not_one_file: 422,
  reconciling: 409,
  file_exists: 409,
  no_folder: 422,
  in_a_database: 422,
};
