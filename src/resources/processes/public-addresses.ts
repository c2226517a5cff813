import { X509Certificate } from 'node:crypto';

import { Type } from 'typebox';

import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { isLoopback } from '../../lib/ip/special-addresses.ts';
import { localCa } from '../local-ca/service.ts';
import type { ResourceContext } from '../resource.ts';
import { processes } from './service.ts';

const path = '/public_addresses';

export const PublicAddressesView = Type.Object(
  {
    https_port: Type.Integer({
      description:
        'Port at which browsers reach HTTPS edges, TLS edges and endpoints of agents; hostports have the port of the setting https_port.',
    }),
    local_https_port: Type.Integer({
      description:
        'Port at which browsers reach names below localhost, which lead to the listener itself and past every load balancer.',
    }),
    agent_server: Type.Union([Type.String(), Type.Null()], {
      description: 'Where agents connect, as host:port. Null: agents are not served.',
    }),
    agent_server_is_local: Type.Boolean({
      description: 'True if agents can connect from the machine of the service alone (GATEHOUSE_AGENT_LISTEN).',
    }),
    agent_fingerprint: Type.Union([Type.String(), Type.Null()], {
      description:
        'The authority that agents verify the service by: "sha256:" and the digest of its certificate, as "gatehouse http --fingerprint" ' +
        'takes it. Null: the service has a certificate of the operator (GATEHOUSE_AGENT_CERTIFICATE).',
    }),
    uri: Type.String({ description: 'URI of these addresses.' }),
  },
  { $id: 'PublicAddresses' },
);

/** Tells whoever connects an agent, or opens an edge in a browser, where to. */
export function publicAddressesOperation(context: ResourceContext): Operation {
  const { settings, services } = context;
  return operation({
    rights: 'everyone',
    method: 'GET',
    path,
    operationId: 'PublicAddressesGet',
    summary: 'Get the public addresses',
    description:
      'Where visitors and agents reach the installation, and by which authority agents verify it: all that an agent needs beside ' +
      'the token of a credential.',
    tag: 'Gateways',
    status: 200,
    response: PublicAddressesView,
    errors: [],
    async handle({ base, uri }) {
      const server = await findAgentServer(context, base);
      return {
        https_port: settings.httpsUrlPort('example.com'),
        local_https_port: settings.httpsUrlPort('localhost'),
        agent_server: server?.address ?? null,
        agent_server_is_local: server?.isLocal ?? false,
        agent_fingerprint: settings.hasAgentCertificate ? null : fingerprintOf(await services.get(localCa).load()),
        uri: uri(path),
      };
    },
  });
}

interface AgentServer {
  readonly address: string;
  readonly isLocal: boolean;
}

/** Agents connect to the host that the caller has reached, unless the operator names another address. */
async function findAgentServer(
  { settings, services }: ResourceContext,
  base: string,
): Promise<AgentServer | undefined> {
  const running = await services.get(processes).list();
  const listeners = running.flatMap((each) => each.listeners).filter(({ kind }) => kind === 'agents');
  const [listener] = listeners;
  if (listener === undefined) return undefined;
  const { agentAddress } = settings;
  if (agentAddress !== undefined) return { address: hostPort(agentAddress.host, agentAddress.port), isLocal: false };
  return {
    // A Host header such as "1.2.3.4.5" is that of no URL.
    address: hostPort(URL.parse(base)?.hostname || listener.host, listener.port),
    isLocal: listeners.every(({ host }) => isOwnMachine(host)),
  };
}

function isOwnMachine(host: string): boolean {
  const ip = parseIp(host);
  return ip === undefined ? host === 'localhost' : isLoopback(ip);
}

/** Hosts of URLs have brackets around IPv6 addresses already. */
function hostPort(host: string, port: number): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

function fingerprintOf(pair: { readonly certificatePem: string } | undefined): string | null {
  if (pair === undefined) return null;
  return `sha256:${new X509Certificate(pair.certificatePem).fingerprint256.replaceAll(':', '').toLowerCase()}`;
}
