import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';

import { freePort } from '../../../support/free-port.ts';
import { appHost, createAppEdge, createPolicy } from './app-edge.ts';
import { createAccount } from './host-command.ts';
import { Program, programToken } from './program.ts';
import { proxyV1 } from './proxy-header.ts';
import { until } from './until.ts';

/** An address that the victim's rules let in. */
const admitted = '203.0.113.5';
/** Where the attacker's client comes from: nobody trusts it, and no rule lets it in. */
const attackerAddress = '127.0.0.9';

const machineAddresses = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

/** Every way to write an address of this machine in a backend. */
export const spellings: readonly string[] = [
  '127.0.0.1',
  '127.0.0.2',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  'localhost',
  ...machineAddresses,
];

/** The addresses from which the gateway's own connections would come, and not the attacker's. */
export const trustedAddresses = ['127.0.0.1', '::1', ...machineAddresses].join().replaceAll(/[[\]]/g, '');

export interface Setup {
  /** The process that serves the API, and the one that has the edges; they may be one. */
  readonly api: Program;
  readonly gateway: Program;
  readonly databaseUrl: string;
  /** True if trusted proxies send a PROXY header to the edges. */
  readonly proxyProtocol: boolean;
}

interface Target {
  readonly name: string;
  readonly port: number;
  /** Returns all that it was sent in answer. */
  readonly ask: (carrier: Socket) => Promise<string>;
}

/**
 * The victim has edges that let in one network only, and the API is restricted too. The attacker, of another account, has a
 * TCP edge and chooses where it leads.
 */
export class InwardAttack {
  readonly targets: readonly Target[];
  readonly #setup: Setup;
  readonly #edgeId: string;
  readonly #edgePort: number;
  readonly #token: string;

  static async prepare(setup: Setup, upstreamPort: number): Promise<InwardAttack> {
    const { api, databaseUrl } = setup;
    const victim = await createAppEdge(api, upstreamPort);
    const rules = { ip_policy_ids: [await createPolicy(api, '203.0.113.0/24')] };
    await api.must('PUT', `${victim.routePath}/ip_restriction`, rules);
    await api.must('PUT', `${victim.tcpPath}/ip_restriction`, rules);
    // The test itself calls from 127.0.0.1.
    const callers = { ip_policy_ids: [await createPolicy(api, '203.0.113.0/24', '127.0.0.1/32')] };
    await api.must('POST', '/ip_restrictions', { type: 'api', enforced: true, ...callers });
    const token = await createAccount(databaseUrl, 'attacker');
    const port = await freePort();
    const { id } = await api.must('POST', '/edges/tcp', { hostports: [`m:${port}`] }, token);
    return new InwardAttack(setup, { edgeId: id, edgePort: port, token, victimPort: victim.tcpPort });
  }

  private constructor(
    setup: Setup,
    own: { readonly edgeId: string; readonly edgePort: number; readonly token: string; readonly victimPort: number },
  ) {
    const { api, gateway, proxyProtocol } = setup;
    this.#setup = setup;
    this.#edgeId = own.edgeId;
    this.#edgePort = own.edgePort;
    this.#token = own.token;
    const line = proxyProtocol ? proxyV1(admitted) : Buffer.alloc(0);
    const get = (path: string, host: string, more = '') =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${admitted}\r\n${more}Connection: close\r\n\r\n`;
    const call = `Authorization: Bearer ${programToken}\r\nService-Version: 2\r\n`;
    this.targets = [
      {
        name: 'https',
        port: gateway.httpsPort,
        ask: (carrier) => {
          carrier.write(line);
          const socket = connectTls({ socket: carrier, servername: appHost, rejectUnauthorized: false });
          carrier.on('close', () => socket.destroy());
          socket.on('error', () => {}).write(get('/', appHost));
          return readAll(socket);
        },
      },
      { name: 'tcp', port: own.victimPort, ask: sends(line, get('/', appHost)) },
      { name: 'api', port: api.apiPort, ask: sends(get('/api_keys', 'api.test', call)) },
      { name: 'metrics', port: gateway.metricsPort, ask: sends(get('/metrics', 'metrics.test')) },
    ];
  }

  /** Leads the attacker's edge to the address; returns what came back of the attack, once it obeys. */
  async lead(address: string, target: Target): Promise<{ readonly answer: string; readonly leadsTo: unknown }> {
    const { api, gateway } = this.#setup;
    const backend = await api.must('POST', '/backends/static', { address }, this.#token);
    const change = { backend_id: backend.id };
    await api.must('PUT', `/edges/tcp/${this.#edgeId}/backend`, change, this.#token);
    let answer = '';
    const refusal = () =>
      gateway
        .logged('a backend that leads inwards was not connected to')
        .find(({ backend_id }) => backend_id === backend.id);
    await until(
      async () => {
        answer ||= await this.#attack(target);
        return answer !== '' || refusal() !== undefined;
      },
      () => `a refusal of ${address} is logged`,
    );
    return { answer, leadsTo: refusal()?.leads_to };
  }

  async #attack({ ask }: Target): Promise<string> {
    const carrier = connect({ host: '127.0.0.1', port: this.#edgePort, localAddress: attackerAddress });
    return ask(carrier.on('error', () => {}));
  }
}

function sends(...parts: readonly (string | Buffer)[]): Target['ask'] {
  return (carrier) => {
    for (const part of parts) carrier.write(part);
    return readAll(carrier);
  };
}

/** Reads until the end; "" if the connection was closed or reset without data. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk))).on('error', () => {});
  await new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return text;
}
