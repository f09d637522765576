// The words that columns of 0001-initial.ts may hold, as SQL lists.

export const states =
  "'held','ready','sending','pending','success','failed','refused','unknown','cancelled','returned'";
export const statuses = "'pending','success','failed','returned'";
export const webhookVerdicts =
  "'says','against_ledger','against_webhook','differs','contradictory','stale','no_status','unmatched','look_alikes','not_understood','other_key'";
export const answers =
  "'found','against_ledger','differs','not_found','no_witness','error','outdated','superseded'";
export const standings = "'complete','window','shows_none','not_ours','incomplete','unread'";
export const tasks = "'archive','errors','invalid'";
export const rejections = "'refused','left_out'";
export const rejectionEnds = "'taken','refused_again','acknowledged'";
export const fileStates = "'due','whole','changed','missing','accepted','begun'";
export const precheckStates = "'due','named','clear','held','accepted','begun'";
export const historyEvents = `'intake','intent','accepted','refused','not_sent','turned_away','unknown','abandoned',
  'looked_up','turned','hold','release','cancel','retry','doubted','succeeded','adopted','settle as success',
  'settle as failed','webhook says pending','webhook says success','webhook says failed','webhook says returned',
  'listing says pending','listing says success','listing says failed','listing says returned',
  'details says pending','details says success','details says failed','details says returned',
  'person says pending','person says success','person says failed','person says returned'`;
export const inquiryReasons = `'unknown','unsettled','asked','webhook_says','webhook_stale','webhook_without_status',
  'webhook_conflicts','webhook_alike','webhook_header','webhook_unsent','webhook_other_key'`;
export const rejectionKinds = `'signature_missing','signature_wrong','merchant_signature_wrong','authorization_missing',
  'authorization_wrong','other_mode','no_keys','source_address','compressed','too_large','no_request','many'`;
export const haltKinds = "'person','account','signature','unknowns','canary_open','canary_failed'";
export const verdicts = "'reconciled','exceptions','not_compared','none'";
export const alertKinds = `'sending_halted','payout_unknown','discrepancy_high','canary_failed','receiver_silent',
  'schedule_missed','schedule_failed','queue_stuck','certificate_ends','disk_low',
  'file_rejected','outcome_unknown','batch_held','signatures_wrong','service_silent'`;
export const alertChannels = "'webhook','mail','heartbeat'";

/**
 * Writes each CHECK of a list of words as comparisons. SQLite builds a table of a list for every row that it checks,
 * which took most of the time of a history entry.
 */
export function withComparisons(statement: string): string {
  return statement.replace(
    /check \((\w+) in \(([^)]*)\)\)/g,
    (_, column: string, words: string) =>
      `check (${words
        .split(',')
        .map((word) => `${column} = ${word.trim()}`)
        .join(' or ')})`,
  );
}
