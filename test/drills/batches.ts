const columns = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';

/** A batch of that many payouts with references PREFIX-1 and on; `before` so many went to other accounts. */
export function batchOf(prefix: string, count: number, before = 0): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const n = i + 1;
    return `${prefix}-${n},${1_000_000_000 + before + n},Adaeze Okonkwo,058,${1000 + n}.50,NGN,Salary,Acme Ltd`;
  });
  return `${[columns, ...rows].join('\n')}\n`;
}
