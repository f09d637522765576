import { canonicalBody } from '../core/domain/body.ts';
import { foldReference, generatedReference } from '../core/domain/ids.ts';
import { formatMinor } from '../core/domain/money.ts';
import { payeeKeysOf } from '../core/domain/payee-name.ts';
import type { LoadedRow } from '../core/ledger/batches.ts';
import type { Config } from '../core/settings/settings.ts';
import { type GoodRow, meantCells } from './rows.ts';

/** Returns the row for the ledger, with the request body frozen byte for byte (P2). */
export function frozen(
  { row, cells, parsed, retry }: GoodRow,
  config: Config,
  contentHash: string,
): LoadedRow {
  const reference = parsed.reference ?? generatedReference(config.intake.referencePrefix, contentHash, row);
  const body = canonicalBody({
    account_number: parsed.accountNumber,
    account_name: parsed.accountName,
    bank_code: parsed.bankCode,
    amount: formatMinor(parsed.amount, parsed.currency),
    currency: parsed.currency,
    sender_name: parsed.senderName,
    narration: parsed.narration,
    reference,
    ...(parsed.type === null ? {} : { type: parsed.type }),
  });
  const keys = payeeKeysOf({ account_name: parsed.accountName, payee_id: parsed.payeeId });
  return {
    row_number: BigInt(row),
    reference,
    reference_key: foldReference(reference),
    account_number: parsed.accountNumber,
    account_name: parsed.accountName,
    bank_code: parsed.bankCode,
    amount: parsed.amount,
    currency: parsed.currency,
    narration: parsed.narration,
    sender_name: parsed.senderName,
    type: parsed.type,
    body,
    cells: JSON.stringify(meantCells(cells, retry)),
    pay_on: parsed.payOn,
    payee_id: parsed.payeeId,
    name_letters: keys.name_letters,
    payee_key: keys.payee_key,
  };
}
