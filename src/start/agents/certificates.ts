import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';

import { tlsCiphers } from '../../lib/tls-ciphers.ts';
import { hasElapsed } from '../../lib/elapsed.ts';
import type { Config } from '../../config/config.ts';
import type { LocalCa } from '../../gateway/certificates/local-ca.ts';
import { LocalLeaves } from '../../gateway/certificates/local-leaves.ts';
import { parseHostname } from '../../lib/host-port.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { Logger } from '../../log.ts';

/** How often the files of the operator are looked at, while agents connect. */
const readEveryMs = 60_000;

type Files = Pick<Config, 'agentCertificate' | 'agentCertificateKey'>;

interface Given {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly context: SecureContext;
}

/**
 * Certificates of the listener of agents: the one in the files of the operator for the names that it is for, else leaves
 * of the local CA. What accounts have uploaded is never shown: agents of all others would fail, or trust it.
 */
export class AgentCertificates {
  readonly #files: Files;
  readonly #leaves: LocalLeaves;
  readonly #log: Pick<Logger, 'warn'>;
  #given: Given | undefined;
  #readAtMs = 0;
  readonly #now: () => number;

  private constructor(files: Files, localCa: LocalCa, log: Pick<Logger, 'warn'>, now: () => number) {
    this.#files = files;
    this.#leaves = new LocalLeaves(localCa, { showsAuthority: true });
    this.#log = log;
    this.#now = now;
  }

  /** Throws if the operator has named files that cannot be used. */
  static async open(
    files: Files,
    localCa: LocalCa,
    log: Pick<Logger, 'warn'>,
    now: () => number = Date.now,
  ): Promise<AgentCertificates> {
    const certificates = new AgentCertificates(files, localCa, log, now);
    await certificates.#read();
    return certificates;
  }

  /** The certificate for a server name. A connection without a name gets a leaf for the address that it came to. */
  async contextFor(name: string | undefined, localAddress: string): Promise<SecureContext | undefined> {
    if (name === undefined) {
      const ip = parseIp(localAddress);
      return ip && this.#leaves.contextFor(formatIp(ip), this.#now());
    }
    const hostname = parseHostname(name, { wildcard: false });
    if (hostname === undefined) return undefined;
    await this.#refresh();
    const isGiven = this.#given?.certificate.checkHost(hostname) !== undefined;
    return isGiven ? this.#given?.context : this.#leaves.contextFor(hostname, this.#now());
  }

  /** A renewed certificate is shown without a restart; while the files cannot be used, the one before stays. */
  async #refresh(): Promise<void> {
    if (this.#given === undefined || !hasElapsed(this.#readAtMs, readEveryMs, this.#now())) return;
    await this.#read().catch((error: unknown) => {
      this.#log.warn({ err: error }, 'the certificate for agents cannot be read again: the one before is shown');
    });
  }

  async #read(): Promise<void> {
    const { agentCertificate, agentCertificateKey } = this.#files;
    this.#readAtMs = this.#now();
    if (agentCertificate === undefined || agentCertificateKey === undefined) return;
    try {
      const [cert, key] = await Promise.all([readFile(agentCertificate), readFile(agentCertificateKey)]);
      const pem = `${cert.toString()}${key.toString()}`;
      if (pem === this.#given?.pem) return;
      this.#given = {
        pem,
        certificate: new X509Certificate(cert),
        context: createSecureContext({ ciphers: tlsCiphers, cert, key }),
      };
    } catch (error) {
      const remedy = 'name files in PEM that are there, of one certificate and its key';
      throw new Error(`GATEHOUSE_AGENT_CERTIFICATE and GATEHOUSE_AGENT_CERTIFICATE_KEY cannot be used: ${remedy}`, {
        cause: error,
      });
    }
  }
}
