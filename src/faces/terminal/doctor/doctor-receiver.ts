import { createServer } from 'node:net';
import { ownerOfPort } from '../../../core/runtime/port-owner.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { isShown } from '../../../findings/finding.ts';
import { certificateFinding } from '../../../findings/machine-findings.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { listenFix } from '../serve/listen-problem.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

/** Checks that webhooks can come in: certificate and port. */
export async function checkReceiver(
  config: Config,
  { nowMs, serves }: { nowMs: number; serves: boolean | null },
): Promise<DoctorCheck[]> {
  const { receiver } = config;
  if (!receiver.enabled)
    return [
      well('receiver', 'receiver.enabled is false: no webhook is expected, look-ups and listings decide'),
    ];
  return [await checkPort(config, serves), await checkCertificate(config, nowMs)];
}

async function checkPort({ receiver }: Config, serves: boolean | null): Promise<DoctorCheck> {
  if (serves === null) return skipped('receiver', 'this account cannot see whether serve runs');
  const { host, port } = receiver;
  const at = `${host}:${port}`;
  const code = port === 0 ? null : await tryToListen(host, port);
  if (serves) return well('receiver', code === 'EADDRINUSE' ? `serve listens on ${at}` : 'serve runs');
  if (code === null)
    return wrong(
      'receiver',
      `receiver.enabled is true, but no serve runs: nothing receives webhooks at ${at}`,
      'start counterfoil serve, or set receiver.enabled: false so that no webhook is expected',
    );
  if (code === 'EADDRINUSE') {
    const owner = ownerOfPort(port);
    return wrong(
      'receiver',
      `${at} is in use by ${owner ?? 'another program'}, and serve is not running`,
      'stop that program, or set another receiver.port (and the webhook address at the service)',
    );
  }
  return wrong(
    'receiver',
    `cannot listen on ${at} (${code})`,
    listenFix(code, 'receiver.port') ?? 'correct receiver.host and receiver.port',
  );
}

/** The error code that prevents listening, or null. Frees the port afterwards. */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function checkCertificate({ receiver }: Config, nowMs: number): Promise<DoctorCheck> {
  const seen = await certificateFinding(receiver, { machine: '', nowMs });
  if (seen === null)
    return well('certificate', 'none (receiver.tls_cert): plain HTTP, for loopback or behind a TLS proxy');
  const { problem, fix } = findingWords.certificate_ends.doctor(seen);
  return isShown(seen, 'doctor') ? wrong('certificate', problem, fix) : well('certificate', problem);
}
