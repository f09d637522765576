import type { Mode } from '../../../core/domain/payout.ts';

/** The configuration of a new home: what must be decided. `expectsWebhooks`: the service can reach this machine. */
export function configurationText({
  mode,
  baseUrl,
  expectsWebhooks,
}: {
  mode: Mode;
  baseUrl: string;
  expectsWebhooks: boolean;
}): string {
  return `# What must be decided. Every other key is left to its default: counterfoil config show prints them all.
# COUNTERFOIL_<SECTION>_<KEY> in the environment or in .env overrides a key (maps and lists as JSON).
# Secrets never stand here: they come from the environment, from .env, or from the file that <NAME>_FILE names.

mode: ${mode}   # test | live; a home belongs to one mode permanently: counterfoil init --mode live DIR makes one for live

service:
  base_url: ${baseUrl}   # the payments service, without /api/v1; http only for loopback

submission:
  approval: none      # none | always | above | callback: which batches wait for the approval of a second person
  daily_limit: {}     # per currency, {NGN: "50000000.00"}; what goes over it waits for the next day
  payout_limit: {}    # per currency, {NGN: "5000000.00"}; one payout above it holds its batch

receiver:
  enabled: ${expectsWebhooks}   # false where the service cannot reach this machine: then no webhook is expected

alerts:
  webhook_url: ""     # a Slack-compatible address for halts, unknown payouts and grave discrepancies; empty: none
`;
}

/** `.env.example`: the names of the secrets. */
export const envExample = `# Copy to .env (chmod 600) and fill in. A comma separates two values while a key is being rotated: the first
# signs, each verifies. Any of these may come from a file instead: COUNTERFOIL_TEST_SECRET_KEY_FILE=/run/secrets/key

COUNTERFOIL_TEST_SECRET_KEY=
COUNTERFOIL_TEST_PUBLIC_KEY=
COUNTERFOIL_TEST_ENCRYPTION_KEY=
# Only where a webhook key is configured at the service: its Bearer token is then demanded of each delivery.
COUNTERFOIL_TEST_WEBHOOK_KEY=

COUNTERFOIL_LIVE_SECRET_KEY=
COUNTERFOIL_LIVE_PUBLIC_KEY=
COUNTERFOIL_LIVE_ENCRYPTION_KEY=
COUNTERFOIL_LIVE_WEBHOOK_KEY=

# Who may decide on the dashboard, as name:token,… (openssl rand -hex 24 makes a token), the password of alerts.smtp_url, and
# the secret that signs what is posted to events.url and submission.approval_url: echo "whsec_$(openssl rand -base64 32)"
#COUNTERFOIL_ADMIN_TOKENS=
#COUNTERFOIL_ALERTS_SMTP_PASSWORD=
#COUNTERFOIL_EVENTS_SECRET=
`;
