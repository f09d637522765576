const weights = [3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3];

/**
 * Whether the last digit of a Nigerian account number agrees with its bank code and serial (the NUBAN check digit). It
 * covers account numbers of ten digits, with bank codes of three digits, or of five for other institutions (computed
 * with a 9 in front); null for all others. A failure is a warning, never a refusal.
 */
export function nubanAgrees(bankCode: string, accountNumber: string): boolean | null {
  if (!/^(\d{3}|\d{5})$/.test(bankCode) || !/^\d{10}$/.test(accountNumber)) return null;
  const digits = `${bankCode.length === 5 ? '9' : '000'}${bankCode}${accountNumber}`;
  const digitAt = (i: number): number => digits.charCodeAt(i) - 48;
  const sum = weights.reduce((total, weight, i) => total + weight * digitAt(i), 0);
  return (10 - (sum % 10)) % 10 === digitAt(weights.length);
}
