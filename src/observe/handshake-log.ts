import type { GatewayLog, HandshakeFailed } from '../gateway/engine.ts';
import { LineLimit } from './line-limit.ts';

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
  const lines = new LineLimit(now);
  return ({ reason, name, source, cause }) => {
    const message = words[reason];
    const verdict = message === undefined ? 'none' : lines.ask(`${reason} ${name === '' ? source : name}`);
    if (message === undefined || verdict === 'none') return;
    log.warn({ reason, host: name, source, ...(cause !== undefined && { cause }) }, message);
    if (verdict === 'last') {
      log.warn(
        {},
        'further failed handshakes are not logged for a while: gatehouse_tls_handshakes_failed_total counts them',
      );
    }
  };
}
