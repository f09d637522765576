/** What a known status code says about a payout (P10). `halt` concerns the whole account: sending stops. */
export type CodeClass = 'accepted' | 'refused' | 'halt' | 'unknown';

const table: Record<string, { class: CodeClass; text: string }> = {
  '00': { class: 'accepted', text: 'success' },
  '01': { class: 'refused', text: 'account not found' },
  '02': { class: 'refused', text: 'receiving account not found' },
  '03': { class: 'unknown', text: 'unable to process' },
  '04': { class: 'unknown', text: 'reference not found' },
  '05': { class: 'unknown', text: 'transaction not found' },
  '06': { class: 'unknown', text: 'webhook URL not set' },
  '07': { class: 'refused', text: 'incomplete request' },
  '09': { class: 'unknown', text: 'transaction already exists' },
  '10': { class: 'halt', text: 'insufficient balance' },
  '11': { class: 'unknown', text: 'out of service' },
  '12': { class: 'unknown', text: 'not found' },
  '13': { class: 'halt', text: 'bank transfer access denied' },
  '15': { class: 'halt', text: 'account restriction' },
  '16': { class: 'halt', text: 'account restriction' },
  '17': { class: 'halt', text: 'live only' },
  '18': { class: 'halt', text: 'unauthorised' },
  '19': { class: 'halt', text: 'invalid merchant authorisation' },
  '20': { class: 'halt', text: 'business blocked' },
  '21': { class: 'halt', text: 'business not active' },
  '22': { class: 'halt', text: 'invalid signature' },
  '23': { class: 'halt', text: 'wallet not found' },
  '24': { class: 'refused', text: 'invalid amount' },
  '25': { class: 'refused', text: 'amount over the transfer limit' },
  '96': { class: 'unknown', text: 'refunded' },
  '98': { class: 'unknown', text: 'unknown' },
  '99': { class: 'unknown', text: 'possible duplicate' },
  '100': { class: 'unknown', text: 'an error occurred' },
};

/** The class of any code. An override may move a code only towards unknown or halt; an unlisted code is unknown. */
export function classOf(code: string, overrides: Readonly<Record<string, 'unknown' | 'halt'>>): CodeClass {
  if (Object.hasOwn(overrides, code)) return overrides[code] ?? 'unknown';
  return (Object.hasOwn(table, code) && table[code]?.class) || 'unknown';
}

/** What the code means, for people; the code itself where it is not listed. */
export function textOf(code: string): string {
  return (Object.hasOwn(table, code) && table[code]?.text) || `code ${code}`;
}
