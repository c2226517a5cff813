import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { makeCertificate } from '../gateway/support/https-certificate.ts';
import { rawProgram, tlsProgram, visitTls } from './support/endpoint-visitors.ts';
import { newToken, onServed } from './support/served-agents.ts';

const own = makeCertificate('DNS:open.localhost');

/** Endpoints of agents whose rules go by a secret in a vault. Each test has a vault of its own. */
onServed(
  'Open connections to agents',
  (served) => {
    let count = 0;
    async function newSecret(value: string) {
      const name = `vault-${++count}`;
      const { gatehouse } = served();
      const vault = await gatehouse.create('/vaults', { name });
      const secret = await gatehouse.create('/vault_secrets', { name: 'range', value, vault_id: vault.id });
      const inRange = `inCidrRange(conn.client_ip, secrets.get('${name}', 'range'))`;
      const rules = [{ expressions: [`!${inRange}`], actions: [{ type: 'deny' }] }];
      const set = async (next: string) =>
        assert.equal((await gatehouse.patch(`/vault_secrets/${secret.id}`, { value: next })).status, 200);
      return { policy: JSON.stringify({ on_tcp_connect: rules }), set };
    }
    async function session() {
      const { gatehouse, library } = served();
      return library(await newToken(gatehouse));
    }
    const echo = (t: TestContext) => rawProgram(t, (socket) => socket.pipe(socket));

    /** The connection stays as long as the secret has its address. */
    async function endsWithSecret(open: () => Socket, set: (value: string) => Promise<void>, t: TestContext) {
      const socket = open().on('error', () => {});
      t.after(() => socket.destroy());
      const closed = new Promise((resolve) => socket.on('close', resolve));
      socket.write('hello');
      await once(socket, 'data');
      await set('127.0.0.0/16');
      socket.write('still here');
      await once(socket, 'data');
      await set('192.0.2.0/24');
      await closed;
    }

    test('one to an endpoint of TCP ends with the secret that let it in', async (t) => {
      const { policy, set } = await newSecret('127.0.0.0/8');
      const endpoint = (await session()).tcpEndpoint().trafficPolicy(policy);
      const url = (await endpoint.listenAndForward(`tcp://127.0.0.1:${await echo(t)}`)).url();
      await endsWithSecret(() => connect(Number(new URL(url ?? '').port), '127.0.0.1'), set, t);
    });

    test('one to an endpoint of TLS ends with the secret that let it in', async (t) => {
      const { policy, set } = await newSecret('127.0.0.0/8');
      const endpoint = (await session()).tlsEndpoint().domain('open.localhost').trafficPolicy(policy);
      const url = (await endpoint.listenAndForward(await tlsProgram(t, own))).url();
      await endsWithSecret(() => visitTls(served(), url, { ca: own.certificate }), set, t);
    });

    test('one that was forwarded ends with the secret of the endpoint that it came to', async (t) => {
      const { policy, set } = await newSecret('127.0.0.0/8');
      const inner = (await session()).tcpEndpoint().binding('internal').remoteAddr('open.internal:1');
      await inner.trafficPolicy(policy).listenAndForward(`tcp://127.0.0.1:${await echo(t)}`);
      const { addr } = await served().gatehouse.create('/reserved_addrs', {});
      const forward = { actions: [{ type: 'forward-internal', config: { url: 'tcp://open.internal:1' } }] };
      const traffic_policy = JSON.stringify({ on_tcp_connect: [forward] });
      await served().gatehouse.create('/endpoints', { url: `tcp://${addr}`, type: 'cloud', traffic_policy });
      await endsWithSecret(() => connect(Number(addr.split(':')[1]), '127.0.0.1'), set, t);
    });
  },
  // Nothing ends them but the rules.
  { tcpPorts: '17700-17799', idleSeconds: '86400', secretKey: 'the-key-that-seals-secrets-0123456789' },
);
