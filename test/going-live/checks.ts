/** What the machine must show besides commands that end well: an exit code alone would pass a proxy without a receiver. */

/** What a command of the page must print. */
export const wanted: readonly [command: RegExp, output: RegExp][] = [
  [/^counterfoil-run doctor/, /\b1 of \d+ failed: receiver/],
  [/^counterfoil-run --unit .* doctor/, /serve listens on/],
  [/^sudo counterfoil-run doctor/, /serve listens on/],
  [/--request POST/, /^401$/m],
  [/^counterfoil-run submit/, /\b12 payouts\b/],
  [/^counterfoil-run verify/, /The ledger is proven/],
  [/^counterfoil-run status/, /Needs a person: nothing/],
  [/^journalctl .*reloaded/, /"changed":\[[^\]]*WEBHOOK_KEY/],
];

/** A command of the proof's own. It runs after each command of the page that `after` fits; at the end without one. */
export type Check = { says: string; after?: RegExp; command: string; prints?: RegExp };

const metric = (name: string): string =>
  `$(curl --silent --retry 30 --retry-all-errors http://127.0.0.1:8788/metrics | sed -n 's/^counterfoil_${name} //p')`;
/** Repeats a command each second until it ends well. */
const within = (seconds: number, command: string): string =>
  `for i in $(seq ${seconds}); do if ${command}; then exit 0; fi; sleep 1; done; exit 1`;

export const checks: readonly Check[] = [
  {
    says: 'while the unit has its copy of the old key, a reload changes no key',
    after: /^\(umask 077; cat > \/etc\/counterfoil\/webhook_key\)$/,
    // The first key is pasted before there is a unit.
    command: `if systemctl is-active --quiet counterfoil; then systemctl reload counterfoil
      ${within(30, `journalctl --unit counterfoil --grep '"event":"reloaded"'`)}; fi`,
    prints: /^$|"changed":\[\]/,
  },
  {
    says: 'webhooks with the key of now come in through nginx',
    after: /^systemctl (start|restart|reload) counterfoil$/,
    command: `came=${metric('webhooks_received_total')}
      counterfoil-run resend SAL-2026-11-001
      ${within(60, `[ "${metric('webhooks_received_total')}" -gt "$came" ]`)}`,
  },
  {
    says: 'doctor takes keys that root lends to the group of the account for safe',
    after: /^journalctl .*reloaded/,
    command: 'counterfoil-run doctor',
    prints: /secret_key,\s+\/etc\/counterfoil\/webhook_key:\s+only\s+for\s+root\s+and\s+the\s+group/,
  },
  {
    says: 'without the keys, doctor names counterfoil-run',
    after: /^systemctl enable --now counterfoil$/,
    command: 'cd /srv/payroll && sudo -u counterfoil counterfoil doctor || test $? -eq 1',
    prints: /sudo\s+counterfoil-run\s+COMMAND/,
  },
  {
    says: 'a command of root is refused and names the account',
    after: /^counterfoil-run submit/,
    command: 'cd /srv/payroll && counterfoil status || test $? -eq 2',
    prints: /sudo -u\s+counterfoil/,
  },
  {
    says: 'neither the account nor another home reads the keys of root, and another home reads nothing',
    after: /counterfoil@acme doctor$/,
    command: `! sudo -u counterfoil cat /etc/counterfoil/secret_key &&
      ! sudo -u counterfoil-acme cat /run/credentials/counterfoil.service/secret_key &&
      ! sudo -u counterfoil-acme ls /srv/payroll && ! sudo -u counterfoil-acme ls /var/backups/counterfoil`,
  },
  {
    says: 'all run, none failed, both are started at boot',
    after: /counterfoil@acme doctor$/,
    command: `systemctl is-active counterfoil counterfoil@acme nginx prometheus &&
      systemctl is-enabled counterfoil counterfoil@acme && [ "$(systemctl show --property=NRestarts --value counterfoil)" = 0 ]`,
  },
  {
    says: 'Prometheus scrapes serve and knows the rules',
    command: `curl --silent http://127.0.0.1:9090/api/v1/rules | grep --only-matching CounterfoilDown | sort --unique
      ${within(60, `promtool query instant http://127.0.0.1:9090 'up{job="counterfoil"}' | grep '=> 1 '`)}`,
    prints: /CounterfoilDown\n.*=> 1 /,
  },
  {
    says: 'serve makes a backup by itself, after a reload with another pace',
    command: `sed -i 's/backup_every: 15m/backup_every: 5m/' /srv/payroll/config/counterfoil.yaml
      touch /root/began && systemctl reload counterfoil
      ${within(400, "find /var/backups/counterfoil -name '*.db' -newer /root/began | grep .")}`,
  },
  {
    says: 'the unit that reports a failure can run',
    command: `systemctl start counterfoil-failed@counterfoil.service.service
      journalctl --unit counterfoil-failed@counterfoil.service.service`,
    prints: /counterfoil\.service has failed and is not started again/,
  },
  {
    says: 'the same npm command upgrades, and serve starts again',
    command: `npm install --global --loglevel=error ./counterfoil-*.tgz && systemctl restart counterfoil counterfoil@acme &&
      curl --silent --fail http://127.0.0.1:8788/healthz && curl --silent --fail http://127.0.0.1:8798/healthz`,
  },
];

/** What this proof cannot show, each with its reason. */
export const notRun: readonly string[] = [
  'SERVICE=… and NAME=…: the sandbox stands for the service, and localhost for the name',
  'a certificate of a public authority: there is no public name; the certificate of the page is used',
  'copying the backups to another machine: there is none',
  'a firewall, and a kernel and network of its own: the container shares those of this machine',
];
