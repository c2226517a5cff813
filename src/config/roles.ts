import type { Config } from './config.ts';

/** The parts that a process has by its role. */

export function hasApi({ role }: Pick<Config, 'role'>): boolean {
  return role === 'all' || role === 'api';
}

export function hasGateway({ role }: Pick<Config, 'role'>): boolean {
  return role === 'all' || role === 'gateway';
}

/** A certificate is of no use without its key. */
export function pairFaults({ agentCertificate, agentCertificateKey }: Config): readonly string[] {
  if ((agentCertificate === undefined) === (agentCertificateKey === undefined)) return [];
  return ['GATEHOUSE_AGENT_CERTIFICATE and GATEHOUSE_AGENT_CERTIFICATE_KEY: give both files, or none'];
}

/** Faults of settings that do not fit the role. */
export function roleFaults({ role, agentListen, linkListen }: Config): readonly string[] {
  if (role !== 'agents') return [];
  const off = [
    ...(agentListen === undefined ? ['GATEHOUSE_AGENT_LISTEN'] : []),
    ...(linkListen === undefined ? ['GATEHOUSE_LINK_LISTEN'] : []),
  ];
  return off.map((name) => `${name} "off": the role agents is of no use without it, give host:port`);
}

/** True if agents connect to the process. */
export function servesAgents({ role, agentListen }: Pick<Config, 'role' | 'agentListen'>): boolean {
  return role !== 'api' && agentListen !== undefined;
}
