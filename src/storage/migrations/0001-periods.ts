/** Closed months, which triggers keep from changing (P30). */
export const periodTables = [
  `create table periods (
    month text not null, starts_at text not null, ends_at text not null, timezone text not null,
    from_history integer not null, through_history integer not null check (through_history >= from_history),
    closed_at text not null, closed_by text not null, run_id text, digest text not null, primary key (month)) strict, without rowid`,
  `create trigger periods_no_update before update on periods
    begin select raise(abort, 'a closed month never changes'); end`,
  `create trigger periods_no_delete before delete on periods
    begin select raise(abort, 'a closed month never changes'); end`,
  `create table period_rows (
    month text not null, sheet text not null, position integer not null, cells text not null,
    primary key (month, sheet, position)) strict, without rowid`,
  `create trigger period_rows_no_update before update on period_rows
    begin select raise(abort, 'a closed month never changes'); end`,
  `create trigger period_rows_no_delete before delete on period_rows
    begin select raise(abort, 'a closed month never changes'); end`,
  // Rows are written before their month, in its transaction; nothing may be added afterwards.
  `create trigger period_rows_no_more before insert on period_rows
    when exists (select 1 from periods p where p.month = new.month)
    begin select raise(abort, 'a closed month never changes'); end`,
  `create table period_transfers (
    transfer_id text not null, month text not null, primary key (transfer_id)) strict, without rowid`,
  `create trigger period_transfers_no_update before update on period_transfers
    begin select raise(abort, 'a closed month never changes'); end`,
  `create trigger period_transfers_no_delete before delete on period_transfers
    begin select raise(abort, 'a closed month never changes'); end`,
  `create trigger period_transfers_no_more before insert on period_transfers
    when exists (select 1 from periods p where p.month = new.month)
    begin select raise(abort, 'a closed month never changes'); end`,
];
