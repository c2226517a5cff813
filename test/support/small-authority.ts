import { execFileSync } from 'node:child_process';
import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface SmallAuthorityOptions {
  /** Accounts must be bound to this key, which is in base64url. */
  readonly externalAccount?: { readonly kid: string; readonly hmacKey: string };
  /** True: the directory offers renewal information (RFC 9773). */
  readonly offersRenewalInfo?: boolean;
}

interface Jws {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

class Problem extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, detail: string) {
    super(detail);
    this.status = status;
    this.type = type;
  }
}

/**
 * An ACME server for what Debian's Caddy does not do: external account binding and renewal information. It verifies every
 * JWS and nonce, and issues real certificates, without challenges.
 */
export class SmallAuthority implements Disposable {
  readonly #options: SmallAuthorityOptions;
  readonly #server: Server;
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatehouse-authority-'));
  readonly #nonces = new Set<string>();
  /** Keys of accounts, by URL. */
  readonly #accounts = new Map<string, JsonWebKey>();
  readonly #certificates: string[] = [];
  /** Names of the orders that were made. */
  readonly ordered: string[] = [];
  /** Names that it issues nothing for: their orders become invalid. */
  readonly refusedNames = new Set<string>();
  /** Answer to questions for renewal information. */
  suggestedWindow: { readonly start: string; readonly end: string } | undefined;
  /** Ids of certificates that were asked about. */
  readonly asked: string[] = [];

  private constructor(server: Server, options: SmallAuthorityOptions) {
    this.#server = server;
    this.#options = options;
    const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
    this.#openssl(...make, '-subj', '/CN=small authority', '-keyout', 'ca.key', '-out', 'ca.pem');
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  static async start(options: SmallAuthorityOptions = {}): Promise<SmallAuthority> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SmallAuthority(server, options);
  }

  get directory(): string {
    return `${this.#base}/directory`;
  }

  get accounts(): number {
    return this.#accounts.size;
  }

  get issued(): readonly string[] {
    return this.#certificates;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
    rmSync(this.#folder, { recursive: true });
  }

  get #base(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const nonce = randomBytes(16).toString('base64url');
    this.#nonces.add(nonce);
    response.setHeader('replay-nonce', nonce);
    try {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const path = request.url ?? '';
      const body = request.method === 'POST' ? this.#post(path, text, response) : this.#get(path);
      if (typeof body === 'string') response.setHeader('content-type', 'application/pem-certificate-chain').end(body);
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    } catch (error) {
      const { status, type, message } =
        error instanceof Problem ? error : new Problem(500, 'serverInternal', String(error));
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: message }));
    }
  }

  #get(path: string): object {
    const base = this.#base;
    if (path === '/directory') {
      const urls = { newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` };
      return { ...urls, ...(this.#options.offersRenewalInfo === true && { renewalInfo: `${base}/renewal` }) };
    }
    const [, id] = /^\/renewal\/(.+)$/.exec(path) ?? [];
    if (id !== undefined && this.suggestedWindow !== undefined) {
      this.asked.push(id);
      return { suggestedWindow: this.suggestedWindow };
    }
    if (path === '/nonce') return {};
    throw new Problem(404, 'malformed', 'There is nothing here.');
  }

  #post(path: string, text: string, response: ServerResponse): object | string {
    const base = this.#base;
    const jws: Jws = JSON.parse(text);
    const header = read(jws.protected);
    if (!this.#nonces.delete(header.nonce)) throw new Problem(400, 'badNonce', 'The nonce is not ours.');
    if (header.url !== base + path) throw new Problem(401, 'unauthorized', 'The URL was not signed.');
    const jwk = path === '/account' ? header.jwk : this.#accounts.get(header.kid);
    if (jwk === undefined) throw new Problem(400, 'accountDoesNotExist', 'There is no such account.');
    if (!isSigned(jws, jwk)) throw new Problem(401, 'unauthorized', 'The signature is wrong.');
    const payload = jws.payload === '' ? {} : read(jws.payload);
    if (path === '/account') {
      this.#checkBinding(payload.externalAccountBinding, jwk);
      const url = `${base}/account/${this.#accounts.size}`;
      this.#accounts.set(url, jwk);
      response.statusCode = 201;
      response.setHeader('location', url);
      return { status: 'valid' };
    }
    const [, number] = /^\/certificate\/(\d+)$/.exec(path) ?? [];
    if (number !== undefined) return this.#certificates[Number(number)] ?? '';
    if (path === '/order') this.ordered.push(payload.identifiers[0].value);
    const at = path === '/order' ? this.ordered.length - 1 : Number(path.replace(/^.*\//, ''));
    const name = this.ordered[at] ?? '';
    response.statusCode = path === '/order' ? 201 : 200;
    response.setHeader('location', `${base}/order/${at}`);
    const order = {
      status: this.refusedNames.has(name) && path !== '/order' ? 'invalid' : 'ready',
      authorizations: [],
      identifiers: [{ type: 'dns', value: name }],
      finalize: `${base}/finalize/${at}`,
    };
    if (!path.startsWith('/finalize/')) return order;
    if (this.refusedNames.has(name)) throw new Problem(403, 'rejectedIdentifier', 'We do not issue for this name.');
    this.#certificates.push(this.#sign(payload.csr));
    return { ...order, status: 'valid', certificate: `${base}/certificate/${this.#certificates.length - 1}` };
  }

  /** RFC 8555, 7.3.4. */
  #checkBinding(binding: Jws | undefined, jwk: JsonWebKey): void {
    const { externalAccount } = this.#options;
    if (externalAccount === undefined) return;
    if (binding === undefined) throw new Problem(403, 'externalAccountRequired', 'Accounts must be bound to yours.');
    const { alg, kid, url } = read(binding.protected);
    const mac = createHmac('sha256', Buffer.from(externalAccount.hmacKey, 'base64url'))
      .update(`${binding.protected}.${binding.payload}`)
      .digest('base64url');
    const isOurs = alg === 'HS256' && kid === externalAccount.kid && url === `${this.#base}/account`;
    const isSame = JSON.stringify(read(binding.payload)) === JSON.stringify(jwk);
    if (!isOurs || !isSame || mac !== binding.signature)
      throw new Problem(401, 'unauthorized', 'The binding is not by the key that we gave you');
  }

  #sign(csr: string): string {
    writeFileSync(join(this.#folder, 'csr.der'), Buffer.from(csr, 'base64url'));
    const from = ['x509', '-req', '-inform', 'DER', '-in', 'csr.der', '-CA', 'ca.pem', '-CAkey', 'ca.key'];
    writeFileSync(join(this.#folder, 'extensions'), 'authorityKeyIdentifier=keyid\n');
    this.#openssl(...from, '-days', '9', '-copy_extensions', 'copy', '-extfile', 'extensions', '-out', 'leaf.pem');
    return readFileSync(join(this.#folder, 'leaf.pem'), 'utf8');
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: 'pipe' });
  }
}

function isSigned({ protected: head, payload, signature }: Jws, jwk: JsonWebKey): boolean {
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signed = Buffer.from(`${head}.${payload}`);
  return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
}

// oxlint-disable-next-line typescript/no-explicit-any -- messages of clients, looked into freely
function read(text: string): any {
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}
