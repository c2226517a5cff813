import type { GatewayLog, HandshakeFailed } from '../gateway/engine.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';

/** Shortest interval between lines about one name. */
const sameNameMs = 60_000;
/** Most lines within that interval: whoever scans makes up names. */
const linesPerInterval = 60;
const rememberedNames = 10_000;

const words: Readonly<Record<HandshakeFailed['reason'], string | undefined>> = {
  unknown_name: 'no edge has this host name: check the hostports of the edge that is meant, or who calls',
  no_certificate:
    'no certificate for this host name yet, and GATEHOUSE_CERTIFICATE_FALLBACK=refuse: look in the log for "no certificate:" with this name, or upload one with POST /tls_certificates',
  no_name: 'a client named no server in its TLS handshake: it must connect by host name, not by address',
  plain_http: 'a client sent HTTP without TLS to the HTTPS listener',
  no_leaf: 'no certificate could be made for a host name: too many new names at once',
  // A scanner, a health check, or a client that does not trust the certificate: too common for the log.
  client: undefined,
};

/** Logs failed handshakes, at most one a minute for each name, and for each source where there is no name. */
export function createHandshakeLog(log: GatewayLog, now: () => number = Date.now): (event: HandshakeFailed) => void {
  const loggedAt = new BoundedCache<string, number>(rememberedNames);
  let since = 0;
  let lines = 0;
  return ({ reason, name, source }) => {
    const message = words[reason];
    const key = `${reason} ${name === '' ? source : name}`;
    const nowMs = now();
    if (message === undefined || nowMs - (loggedAt.get(key) ?? 0) < sameNameMs) return;
    if (nowMs - since >= sameNameMs) [since, lines] = [nowMs, 0];
    if (++lines > linesPerInterval) return;
    loggedAt.fill(loggedAt.ticket(), key, nowMs);
    log.warn({ reason, host: name, source }, message);
    if (lines === linesPerInterval) {
      log.warn(
        {},
        'further failed handshakes are not logged for a while: gatehouse_tls_handshakes_failed_total counts them',
      );
    }
  };
}
