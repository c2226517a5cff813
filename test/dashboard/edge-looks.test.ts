import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import ngrok from '@ngrok/ngrok';

import { makePair } from '../support/certificate-pair.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { onDashboard } from './support/dashboard.ts';
import { faultsOf } from './support/looks.ts';
import type { NamedPath } from './support/looks.ts';

onDashboard(
  'every view of edges and agents',
  (d) => {
    let all: readonly NamedPath[] = [];
    const g = () => d().gatehouse;
    before(async () => {
      all = await fill();
    });

    async function fill(): Promise<readonly NamedPath[]> {
      const offices = await g().create('/ip_policies', { description: 'Offices and VPN' });
      await g().put(`/ip_policies/${offices.id}/rules`, ['127.0.0.0/8', '198.51.100.0/24', '!198.51.100.66/32']);
      const depots = await g().create('/ip_policies', { description: 'Depots' });
      const blue = await g().create('/backends/static', {
        address: '10.20.4.31:8443',
        tls: { enabled: true },
        description: 'booking-blue',
      });
      await g().create('/backends/static', { address: 'labels.internal.kestrel.example:8080' });
      const group = await g().create('/backends/tunnel_group', { labels: { app: 'scanner', site: 'gdansk' } });
      const edge = await g().create('/edges/https', {
        description: 'Booking API',
        hostports: ['api.kestrel.example:443', '*.sandbox.kestrel.example:443'],
      });
      const backend = { backend_id: blue.id };
      await g().create('/edges/https', { description: 'Unfinished' });
      const routes = `/edges/https/${edge.id}/routes`;
      await g().create(routes, { match: '/', match_type: 'path_prefix', backend, compression: {} });
      await g().create(routes, { match: '/healthz', match_type: 'exact_path', backend });
      const route = await g().create(routes, {
        match: '/v2/admin',
        match_type: 'path_prefix',
        backend,
        ip_restriction: { enabled: false, ip_policy_ids: [offices.id, depots.id] },
        request_headers: { add: { 'x-internal-zone': 'booking-admin' }, remove: ['x-debug-user'] },
        response_headers: { add: { 'strict-transport-security': 'max-age=31536000' }, remove: ['server'] },
      });
      const tcp = await g().create('/edges/tcp', {
        description: 'Reporting replica',
        hostports: ['db.kestrel.example:14022'],
        backend: { backend_id: group.id },
        ip_restriction: { ip_policy_ids: [offices.id] },
      });
      const san = 'subjectAltName=DNS:*.kestrel.example,DNS:kestrel.example';
      const subject = ['-subj', '/CN=kestrel.example', '-addext', san];
      const certificate = await g().create('/tls_certificates', makePair('wild', ...subject, '-days', '9'));
      await g().create('/tls_certificates', {
        ...makePair('long', '-subj', '/CN=old.example', '-addext', 'subjectAltName=DNS:old.example', '-days', '300'),
        description: 'the old shop',
      });
      const domain = await g().create('/reserved_domains', {
        domain: 'api.kestrel.example',
        description: 'Rates, bookings and labels for customers and carriers',
      });
      const addr = await g().create('/reserved_addrs', { description: 'label printer hub' });
      const backends = await otherBackends(blue.id);
      const authority = await g().create('/certificate_authorities', { ca_pem: new ClientAuthority('Depots').pem });
      const tls = await g().create('/edges/tls', {
        description: 'Sensors',
        hostports: ['mqtt.kestrel.example:443'],
        backend,
        tls_termination: { terminate_at: 'edge' },
        mutual_tls: { certificate_authority_ids: [authority.id] },
      });
      const routePath = `/https-edges/${edge.id}?route=${route.id}`;
      return [
        ['https-edges', '/https-edges'],
        ['https-edges-create', '/https-edges?create=1'],
        ['https-edge-route', routePath],
        ['https-edge-headers', `${routePath}&module=request_headers&act=edit`],
        ['https-edge-backend', `${routePath}&module=backend&act=edit`],
        ['https-edge-compression', `${routePath}&module=compression&act=edit`],
        ['https-edge-who', `${routePath}&module=ip_restriction&act=on`],
        ['https-edge-sign-in', `${routePath}&module=oidc&act=edit`],
        ['https-edge-provider', `${routePath}&module=oauth&act=edit`],
        ['https-edge-route-edit', `${routePath}&editroute=edit`],
        ['https-edge-remove', `${routePath}&module=response_headers&act=remove`],
        ['https-edge-add-route', `/https-edges/${edge.id}?add=1`],
        ['https-edge-edit', `/https-edges/${edge.id}?edit=1`],
        ['https-edge-delete', `/https-edges/${edge.id}?delete=1`],
        ['tcp-edges', '/tcp-edges'],
        ['tcp-edge-modules', `/tcp-edges/${tcp.id}`],
        ['tcp-edge-ip', `/tcp-edges/${tcp.id}?module=ip_restriction&act=edit`],
        ['tcp-edges-create', '/tcp-edges?create=1'],
        ['tls-edges', '/tls-edges'],
        ['tls-edges-create', '/tls-edges?create=1'],
        ['tls-edge-modules', `/tls-edges/${tls.id}`],
        ['tls-edge-clients', `/tls-edges/${tls.id}?module=mutual_tls&act=edit`],
        ['tls-edge-edit', `/tls-edges/${tls.id}?edit=1`],
        ['tls-edge-delete', `/tls-edges/${tls.id}?delete=1`],
        ['backends', '/backends'],
        ...backends,
        ['backend-static', `/backends/${blue.id}`],
        ['backend-group-edit', `/backends/${group.id}?edit=1`],
        ['backends-create', '/backends?create=1'],
        ['certificates', '/certificates'],
        ['certificates-upload', '/certificates?create=1'],
        ['certificate', `/certificates/${certificate.id}`],
        ['certificate-edit', `/certificates/${certificate.id}?edit=1`],
        ['certificate-delete', `/certificates/${certificate.id}?delete=1`],
        ['certificates-public', '/certificates?kind=public'],
        ['authorities', '/certificates?kind=client'],
        ['authorities-create', '/certificates?kind=client&create=1'],
        ['authority', `/certificates/${authority.id}`],
        ['authority-edit', `/certificates/${authority.id}?edit=1`],
        ['authority-delete', `/certificates/${authority.id}?delete=1`],
        ['reserved-names', '/reserved-names'],
        ['reserved-names-addresses', '/reserved-names?kind=addresses'],
        ['reserved-name', `/reserved-names/${domain.id}`],
        ['reserved-name-create', '/reserved-names?create=1'],
        ['reserved-address', `/reserved-names/${addr.id}`],
        ['reserved-address-create', '/reserved-names?kind=addresses&create=1'],
      ];
    }

    /** List, form, page and edit of each kind of backend but the address. */
    async function otherBackends(staticId: string): Promise<readonly NamedPath[]> {
      const bodies = {
        tunnel_group: { labels: { app: 'pages' } },
        weighted: { backends: { [staticId]: 100 } },
        failover: { backends: [staticId] },
        http_response: { status_code: 503, headers: { 'retry-after': '60' }, body: 'Back soon.' },
      };
      const paths: NamedPath[] = [];
      for (const [kind, body] of Object.entries(bodies)) {
        const { id } = await g().create(`/backends/${kind}`, body);
        paths.push(
          [`backends-${kind}`, `/backends?kind=${kind}`],
          [`backends-${kind}-create`, `/backends?kind=${kind}&create=1`],
          [`backend-${kind}`, `/backends/${id}`],
          [`backend-${kind}-edit`, `/backends/${id}?edit=1`],
          [`backend-${kind}-delete`, `/backends/${id}?delete=1`],
        );
      }
      return paths;
    }

    /** The views of an agent while it is connected. */
    async function withAgent(look: (paths: readonly NamedPath[]) => Promise<void>): Promise<void> {
      const acl = ['bind:gdansk.localhost', 'bind:app=scanner', 'bind:site=gdansk'];
      const { id, token } = await g().create('/credentials', { description: 'depot-gdansk', acl });
      try {
        const { agents, engine } = g().app;
        const agent = await new ngrok.SessionBuilder()
          .authtoken(String(token))
          .serverAddr(`localhost:${agents?.port}`)
          .caCert(Buffer.from(engine?.caCertificatePem ?? ''))
          .connect();
        await agent.httpEndpoint().domain('gdansk.localhost').listenAndForward('http://127.0.0.1:3000');
        const labelled = agent.labeledListener().label('app', 'scanner').label('site', 'gdansk');
        await labelled.listenAndForward('http://127.0.0.1:9100');
        const endpoints = (await g().get('/endpoints')).body.endpoints as { id: string; type: string }[];
        const endpoint = endpoints.find(({ type }) => type === 'ephemeral') ?? assert.fail('the agent serves');
        const [session] = (await g().get('/tunnel_sessions')).body.tunnel_sessions;
        await look([
          ['agents', '/agents'],
          ['agents-tunnels', '/agents?tab=tunnels'],
          ['endpoints-agents', '/endpoints'],
          ['endpoint-agent', `/endpoints/${endpoint.id}`],
          ['agents-credentials', '/agents?tab=credentials'],
          ['agents-create', '/agents?create=1'],
          ['agent-session', `/agents/${session.id}`],
          ['agent-session-stop', `/agents/${session.id}?stop=1`],
          ['agent-credential', `/agents/${id}`],
          ['agent-credential-edit', `/agents/${id}?edit=1`],
          ['agent-credential-delete', `/agents/${id}?delete=1`],
        ]);
      } finally {
        // Closes the connection of the library too.
        await g().delete(`/credentials/${id}`);
      }
    }

    test('is readable for all in both themes, and nothing scrolls sideways', async () => {
      assert.deepEqual(await faultsOf(await d().open(), all), []);
    });

    test('of an agent that is connected is readable for all in both themes', async () => {
      const page = await d().open();
      await withAgent(async (paths) => assert.deepEqual(await faultsOf(page, paths), []));
    });
  },
  { agentListen: '127.0.0.1:0', httpsListen: '127.0.0.1:0', vendor: 'ngrok', drainSeconds: '0' },
);
