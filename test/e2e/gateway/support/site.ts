import type { Flags } from '../../../../src/config/config.ts';
import { freePort } from '../../../support/free-port.ts';
import { Gatehouse } from '../../../support/gatehouse.ts';
import { newSqlite } from '../../../support/scratch.ts';
import { askHttps, askTcp } from './traffic.ts';
import type { Answered, Asking } from './traffic.ts';
import { startUpstream } from './upstream.ts';
import type { Upstream } from './upstream.ts';

export const siteHost = 'app.site.test';

/** A Gatehouse in this process with one upstream behind an HTTPS edge and a TCP edge, reachable over IPv4 and IPv6. */
export class Site implements AsyncDisposable {
  readonly gatehouse: Gatehouse;
  readonly upstream: Upstream;
  readonly backendId: string;
  readonly httpsPort: number;
  readonly edgeId: string;
  readonly routeId: string;
  readonly tcpEdgeId: string;
  readonly tcpPort: number;

  private constructor(
    parts: Pick<
      Site,
      'gatehouse' | 'upstream' | 'backendId' | 'httpsPort' | 'edgeId' | 'routeId' | 'tcpEdgeId' | 'tcpPort'
    >,
  ) {
    this.gatehouse = parts.gatehouse;
    this.upstream = parts.upstream;
    this.backendId = parts.backendId;
    this.httpsPort = parts.httpsPort;
    this.edgeId = parts.edgeId;
    this.routeId = parts.routeId;
    this.tcpEdgeId = parts.tcpEdgeId;
    this.tcpPort = parts.tcpPort;
  }

  static async start(settings: Flags = {}, databaseUrl: string = newSqlite()): Promise<Site> {
    const upstream = await startUpstream();
    const gatehouse = await Gatehouse.start(databaseUrl, {
      httpsListen: '[::]:0',
      tcpListenHost: '::',
      tcpPorts: '10000-32767',
      metricsListen: '127.0.0.1:0',
      ...settings,
    });
    const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
    const edge = await gatehouse.create('/edges/https', { hostports: [`${siteHost}:443`] });
    const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backend.id },
    });
    const tcpPort = await freePort();
    const tcpEdge = await gatehouse.create('/edges/tcp', {
      hostports: [`localhost:${tcpPort}`],
      backend: { backend_id: backend.id },
    });
    return new Site({
      gatehouse,
      upstream,
      backendId: backend.id,
      // Workers listen where the setting says.
      httpsPort: gatehouse.httpsPort,
      edgeId: edge.id,
      routeId: route.id,
      tcpEdgeId: tcpEdge.id,
      tcpPort,
    });
  }

  get routePath(): string {
    return `/edges/https/${this.edgeId}/routes/${this.routeId}`;
  }

  askHttps(asking: Asking = {}, host = siteHost): Promise<Answered> {
    return askHttps(this.httpsPort, host, { ...asking, ...addresses(asking.from) });
  }

  askTcp(asking: Asking = {}): Promise<Answered> {
    return askTcp(this.tcpPort, { ...asking, ...addresses(asking.from) });
  }

  /** Creates an IP policy; `!` before a CIDR means deny. */
  async policy(...cidrs: readonly string[]): Promise<string> {
    const { id } = await this.gatehouse.create('/ip_policies');
    await this.gatehouse.put(`/ip_policies/${id}/rules`, cidrs);
    return id;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  async restrict(enforced: boolean, ...policyIds: readonly string[]): Promise<any> {
    return this.gatehouse.create('/ip_restrictions', { type: 'endpoints', enforced, ip_policy_ids: policyIds });
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.gatehouse.app.metricsPort}/metrics`)).text();
  }

  /** Returns the lines of the log with this message, without the common fields. */
  // oxlint-disable-next-line typescript/no-explicit-any -- see `restrict`
  logged(message: string): readonly any[] {
    return this.gatehouse.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gatehouse[Symbol.asyncDispose]();
    await this.upstream[Symbol.asyncDispose]();
  }
}

/** Returns source and destination addresses of one family. */
function addresses(from: string | undefined): Pick<Asking, 'from' | 'to'> {
  return from === undefined ? {} : { from, to: from.includes(':') ? '::1' : '127.0.0.1' };
}
