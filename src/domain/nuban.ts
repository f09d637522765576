const weights = [3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3];

/**
 * Whether the last digit of a Nigerian account number agrees with its bank code and serial (the NUBAN check digit);
 * null where it does not apply: another bank code than three digits (a bank's) or five (another institution's, reckoned
 * with a 9 in front), another number than ten. A failure is a warning and never a refusal (field-notes.md).
 */
export function nubanAgrees(bankCode: string, accountNumber: string): boolean | null {
  if (!/^(\d{3}|\d{5})$/.test(bankCode) || !/^\d{10}$/.test(accountNumber)) return null;
  const digits = `${bankCode.length === 5 ? '9' : '000'}${bankCode}${accountNumber}`;
  const digitAt = (i: number): number => digits.charCodeAt(i) - 48;
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += digitAt(i) * (weights[i] ?? 0);
  return (10 - (sum % 10)) % 10 === digitAt(weights.length);
}
