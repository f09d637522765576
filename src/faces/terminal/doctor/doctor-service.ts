import { otherMode } from '../../../core/service/pages.ts';
import type { ListPage, ServiceTrouble } from '../../../core/service/types.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

/** Beyond this clock difference, the service's times prove nothing (P16). */
const mostSkewMs = 60_000;

/** Reads the first list page once: does the service answer, with our key and our mode, and what does its clock say? */
export async function checkService(
  config: Config,
  options: { offline: boolean; now(): number },
): Promise<DoctorCheck[]> {
  const { hostname } = new URL(config.service.baseUrl);
  // Reserved for examples (RFC 2606): the address that init writes leads nowhere.
  if (/(^|\.)example(\.(com|net|org))?$/.test(hostname))
    return [
      wrong('service', `${hostname} is a placeholder`, 'set service.base_url to the address of your service'),
      skipped('clock', 'no service to ask'),
    ];
  const why = options.offline
    ? '--offline'
    : (config.keys[config.mode]?.secretKeys.length ?? 0) === 0
      ? 'no key to ask with'
      : null;
  if (why !== null) return [skipped('service', why), skipped('clock', why)];
  const { connectService } = await import('../../../app/whole.ts');
  const service = connectService(config);
  try {
    const asked = options.now();
    const answer = await service.listPage(1);
    const heard = options.now();
    if (answer.kind === 'trouble')
      return [describeTrouble(config, answer), skipped('clock', 'the service gave no list')];
    return [checkPage(config, answer.page), checkClock(answer.page.date, asked, heard)];
  } finally {
    await service.close();
  }
}

/** Checks that the list shows no transfers of the other mode (P24). */
function checkPage({ mode, service }: Config, page: ListPage): DoctorCheck {
  const other = otherMode(page, mode);
  if (other !== undefined)
    return wrong(
      'service',
      `mode is ${mode}, but the service lists ${other}`,
      `put the ${mode} keys in COUNTERFOIL_${mode.toUpperCase()}_…; nothing is sent until then`,
    );
  return well('service', `${service.baseUrl} answers, ${page.total} transfers listed, all of mode ${mode}`);
}

/** The clock difference. The Date header has whole seconds, written between our request and its answer. */
function checkClock(date: number | null, asked: number, heard: number): DoctorCheck {
  if (date === null) return skipped('clock', 'the service sent no Date header');
  const skewMs = date + 500 - (asked + heard) / 2;
  const seconds = Math.round(skewMs / 1000);
  const detail =
    seconds === 0
      ? "agrees with the service's"
      : `${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the service's`;
  return Math.abs(skewMs) > mostSkewMs
    ? wrong(
        'clock',
        detail,
        'set this clock by NTP (timedatectl set-ntp true); absence proves nothing until then',
      )
    : well('clock', detail);
}

function describeTrouble(config: Config, { reason, message, httpStatus }: ServiceTrouble): DoctorCheck {
  const { mode, service } = config;
  const detail = `${service.baseUrl}: ${message}`;
  const key = `COUNTERFOIL_${mode.toUpperCase()}_SECRET_KEY`;
  const of = config.keys[mode]?.secretKeys.length ?? 0;
  if (reason === 'unauthorised') {
    const which = of > 1 ? `the first of the ${of} values of ${key}` : key;
    return wrong(
      'service',
      `${service.baseUrl} refused ${which} (HTTP ${httpStatus}: ${message})`,
      `compare it with the ${mode} secret key in the service's dashboard, and whether this machine's address is allowed there`,
    );
  }
  return wrong('service', detail, fixFor(message, reason));
}

const fixes: readonly [pattern: RegExp, fix: string][] = [
  [
    /speaks plain HTTP/,
    'name the HTTPS port in service.base_url; a service on this machine may also have http:// there',
  ],
  [/speaks? HTTPS/, 'write https:// in service.base_url, or name the port that speaks plain HTTP'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|issuer certificate/i,
    "its certificate is not trusted here: if a company's own authority signed it, set NODE_EXTRA_CA_CERTS to that authority's PEM file; never switch the check off",
  ],
  [/ERR_SSL|ERR_TLS|EPROTO/, 'no TLS could be agreed: check that service.base_url names an HTTPS port'],
  [/ENOTFOUND|EAI_AGAIN/, "the name could not be resolved: check service.base_url and this machine's DNS"],
  [/ECONNREFUSED/, 'nothing listens there: check service.base_url and its port'],
  [/EHOSTUNREACH|ENETUNREACH/, "there is no way there: check this machine's network and firewall"],
  [
    /ECONNRESET|UND_ERR_SOCKET|other side closed/,
    'the connection was cut: a firewall or a proxy in between may do that',
  ],
];

function fixFor(message: string, reason: ServiceTrouble['reason']): string {
  const known = fixes.find(([pattern]) => pattern.test(message));
  if (known) return known[1];
  const others: Record<ServiceTrouble['reason'], string> = {
    unreachable: 'check the network and service.base_url',
    timeout: 'it took longer than service.timeout_ms: check the network, a firewall, or try later',
    unauthorised: 'check the keys',
    throttled: 'too many requests: lower service.requests_per_second, or try later',
    server_error: 'the service itself is in trouble: try later, or ask its support',
    not_understood:
      'something else answered: check service.base_url (without /api/v1), and for a proxy in between',
  };
  return others[reason];
}
