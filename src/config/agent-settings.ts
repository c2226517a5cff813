import type { Setting } from './setting.ts';
import { optional, orAuto, orOff, readDomain, readListen, readReachable, readWholeNumber, readWord } from './values.ts';

/** Settings of the listener of agents and of what agents may have. */
export const agentSettings = {
  agentListen: {
    form: 'host:port',
    help: 'address to which agents connect, host:port or "off"',
    fallback: '127.0.0.1:4443',
    read: orOff(readListen),
  },
  agentAddress: {
    form: 'host:port',
    help: 'address at which agents reach agent_listen, as the dashboard and "gatehouse login" give it to them; the host of the API and the port of agent_listen when not given',
    fallback: '',
    read: optional(readReachable),
  },
  agentCertificate: {
    form: 'file',
    help: 'PEM file of the certificate, with its chain, that agents are shown for the names in it; a certificate of the local CA for all others. It is read again every minute',
    fallback: '',
    read: optional(String),
  },
  agentCertificateKey: {
    form: 'file',
    help: 'PEM file of the private key of agent_certificate',
    fallback: '',
    read: optional(String),
  },
  agentDomain: {
    form: 'name',
    help: 'domain under which agents get names that nobody chose, and the host of their TCP addresses',
    fallback: 'localhost',
    read: readDomain,
  },
  agentUrlPort: {
    form: 'port|auto',
    help: 'port in the URLs of HTTPS and TLS names, of edges and of agents; "auto": that of the HTTPS listener for names below localhost, else https_port',
    fallback: 'auto',
    read: orAuto(readWholeNumber(1, 65_535)),
  },
  region: {
    form: 'word',
    help: 'name of the region that sessions, tunnels and endpoints of agents show, and that traffic policies read as conn.server_region',
    fallback: 'local',
    read: readWord,
  },
  agentMaxSessions: {
    form: 'count',
    help: 'sessions of agents that one credential may have open at once',
    fallback: '100',
    read: readWholeNumber(1, 100_000),
  },
  agentMaxTunnels: {
    form: 'count',
    help: 'tunnels that one session of an agent may have',
    fallback: '64',
    read: readWholeNumber(1, 10_000),
  },
  agentMaxStreams: {
    form: 'count',
    help: 'streams of one session of an agent at once: connections of visitors, and 12 for the agent itself',
    fallback: '4096',
    read: readWholeNumber(14, 65_536),
  },
  agentRustStreams: {
    form: 'count',
    help: 'the same for agents of the Rust family (JavaScript, Python and Java included), which drop the session above 512',
    fallback: '512',
    read: readWholeNumber(14, 65_536),
  },
  agentUnreadMib: {
    form: 'MiB',
    help: 'bytes that the visitors of one session may leave unread, in MiB; beyond that, the slowest of them is cut off',
    fallback: '16',
    read: readWholeNumber(1, 1_024),
  },
  agentAuthSeconds: {
    form: 'seconds',
    help: 'how long an agent may take for its TLS handshake, and again to sign in',
    fallback: '10',
    read: readWholeNumber(1, 300),
  },
  agentAuthKib: {
    form: 'KiB',
    help: 'bytes that an agent may send before it has signed in, in KiB',
    fallback: '16',
    read: readWholeNumber(1, 1_024),
  },
  agentPending: {
    form: 'count',
    help: 'connections of agents at once that have not signed in yet, a quarter of them from one address (IPv6: of one /64 network); beyond that, the oldest that has sent nothing is closed',
    fallback: '1024',
    read: readWholeNumber(1, 1_000_000),
  },
  agentNameSeconds: {
    form: 'seconds',
    help: 'how long a name or port stays with its account after the agent that had it was disconnected',
    fallback: '180',
    read: readWholeNumber(0, 86_400),
  },
  agentWait: {
    form: 'seconds',
    help: 'how long a visitor waits for an agent that was disconnected and whose name or port is still kept for it; 0: not at all',
    fallback: '3',
    read: readWholeNumber(0, 60),
  },
  agentWaiting: {
    form: 'count',
    help: 'visitors that may wait for agents at once, in each gateway process; one account has a quarter of them',
    fallback: '1000',
    read: readWholeNumber(0, 1_000_000),
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;
