/** Deliveries whose signature is not ours. */
export async function forge(receiver: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const body = JSON.stringify({ event: 'payout', reference: `FORGED-${n}`, status: 'success' });
    const headers = { 'content-type': 'application/json', payloadsignature: 'ab'.repeat(64) };
    await fetch(`${receiver}/webhooks/test`, { method: 'POST', headers, body });
  }
}
