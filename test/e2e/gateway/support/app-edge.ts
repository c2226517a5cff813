import { freePort } from '../../../support/free-port.ts';
import type { Program } from './program.ts';

export const appHost = 'app.edge.test';

export interface AppEdge {
  readonly backendId: string;
  readonly edgeId: string;
  readonly routePath: string;
  readonly tcpPath: string;
  readonly tcpPort: number;
}

/** Creates an HTTPS edge and a TCP edge in a running program, with one upstream behind both. */
export async function createAppEdge(program: Program, upstreamPort: number): Promise<AppEdge> {
  const backend = await program.must('POST', '/backends/static', { address: `127.0.0.1:${upstreamPort}` });
  const edge = await program.must('POST', '/edges/https', { hostports: [`${appHost}:443`] });
  const toBackend = { backend: { backend_id: backend.id } };
  const route = await program.must('POST', `/edges/https/${edge.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    ...toBackend,
  });
  const tcpPort = await freePort();
  const tcp = await program.must('POST', '/edges/tcp', { hostports: [`localhost:${tcpPort}`], ...toBackend });
  return {
    backendId: backend.id,
    edgeId: edge.id,
    routePath: `/edges/https/${edge.id}/routes/${route.id}`,
    tcpPath: `/edges/tcp/${tcp.id}`,
    tcpPort,
  };
}

/** Creates a policy that allows these CIDRs; returns its id. */
export async function createPolicy(program: Program, ...cidrs: readonly string[]): Promise<string> {
  const { id } = await program.must('POST', '/ip_policies', {});
  await program.must('PUT', `/ip_policies/${id}/rules`, cidrs);
  return id;
}
