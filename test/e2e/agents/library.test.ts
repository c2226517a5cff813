import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../gateway/support/until.ts';
import { LibraryError } from './support/library-agent.ts';
import { onServed } from './support/served.ts';

/** The hosted service's own library, unmodified, against the real program: what its users do first. */
onServed('the library', (served) => {
  /** Runs what must be refused, and returns the error that the library shows. */
  async function refusal(work: Promise<unknown>): Promise<LibraryError> {
    const error: unknown = await work.then(
      () => assert.fail('it was not refused'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof LibraryError, String(error));
    return error;
  }

  test('HTTP through a name: visitors reach the program, and it learns where they come from', async () => {
    const { program, ca, upstream } = served();
    const agent = await served().agent(await served().newToken(), [{ domain: 'shop.localhost' }]);
    assert.equal(agent.url, 'https://shop.localhost');
    const { status, echo } = await served().ask('shop.localhost', {
      path: '/a?b=c',
      method: 'PUT',
      from: '127.0.0.5',
      ca,
    });
    assert.equal(status, 200);
    assert.deepEqual([echo?.name, echo?.method, echo?.url], [upstream.name, 'PUT', '/a?b=c']);
    assert.equal(echo?.headers['x-forwarded-for'], '127.0.0.5');
    assert.equal(echo?.headers['x-forwarded-proto'], 'https');
    assert.equal(echo?.headers['host'], 'shop.localhost');
    const { endpoints } = await program.must('GET', '/endpoints');
    assert.deepEqual(
      endpoints.map(({ url }: { readonly url: string }) => url),
      ['https://shop.localhost'],
    );
    await agent.closeListener(agent.url);
    await until(
      async () =>
        (
          await served()
            .ask('shop.localhost')
            .catch(() => undefined)
        )?.status !== 200,
      'it is closed',
    );
  });

  test('a name that nobody chose is made of two words and a number, and served', async () => {
    const agent = await served().agent(await served().newToken(), [{}]);
    assert.match(agent.url, /^https:\/\/[a-z]+-[a-z]+-\d+\.localhost$/);
    assert.equal((await served().ask(agent.hostname)).status, 200);
  });

  test('TCP through a port, and several listeners over one session', async () => {
    const { program } = served();
    const agent = await served().agent(await served().newToken(), [{ proto: 'tcp' }, { domain: 'both.localhost' }]);
    assert.match(agent.url, /^tcp:\/\/localhost:\d+$/);
    assert.equal((await served().askPort(agent.portOf(0), { path: '/tcp' })).echo?.url, '/tcp');
    assert.equal((await served().ask('both.localhost')).status, 200);
    assert.equal((await program.must('GET', '/tunnel_sessions')).tunnel_sessions.length, 1);
  });

  test('labels: an HTTPS edge and a TCP edge lead to them through a tunnel group', async () => {
    const { program } = served();
    const group = await program.must('POST', '/backends/tunnel_group', { labels: { app: 'shop' } });
    const edge = await program.must('POST', '/edges/https', { hostports: ['labels.example:443'] });
    const backend = { backend_id: group.id };
    await program.must('POST', `/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match: '/', backend });
    const { addr } = await program.must('POST', '/reserved_addrs', {});
    const tcp = await program.must('POST', '/edges/tcp', { hostports: [addr], backend });
    const port = Number(addr.split(':').at(-1));
    assert.deepEqual(await codeOf('labels.example'), [503, 3200]);
    const agent = await served().agent(await served().newToken(), [
      { proto: 'labeled', labels: ['app:shop', 'more:b'] },
      { proto: 'labeled', labels: ['app:other'] },
    ]);
    assert.equal((await served().ask('labels.example', { path: '/edge' })).echo?.url, '/edge');
    assert.equal((await served().askPort(port, { path: '/tcp' })).echo?.url, '/tcp');
    const { tunnels } = await program.must('GET', `/backends/tunnel_group/${group.id}`);
    assert.deepEqual(
      tunnels.map(({ id }: { readonly id: string }) => id),
      [agent.endpoints[0]?.id],
    );
    await program.must('PATCH', `/backends/tunnel_group/${group.id}`, { labels: { app: 'nobody' } });
    assert.deepEqual(await codeOf('labels.example'), [503, 3200]);
    for (const path of [`/edges/https/${edge.id}`, `/edges/tcp/${tcp.id}`]) await program.must('DELETE', path);
  });

  test('headers that the library adds and removes', async () => {
    await served().agent(await served().newToken(), [
      {
        domain: 'headers.localhost',
        request_header_add: ['x-added:yes'],
        request_header_remove: ['x-secret'],
        response_header_add: ['x-answer:also'],
        response_header_remove: ['content-type'],
      },
    ]);
    const { echo, headers } = await served().ask('headers.localhost', { headers: { 'x-secret': 'no', 'x-kept': 'k' } });
    assert.equal(echo?.headers['x-added'], 'yes');
    assert.equal(echo?.headers['x-kept'], 'k');
    assert.equal(echo?.headers['x-secret'], undefined);
    assert.equal(headers['x-answer'], 'also');
    assert.equal(headers['content-type'], undefined);
  });

  test('a refused token is shown with its code and what to do', async () => {
    const { program } = served();
    const { id, token } = await served().newCredential();
    await program.must('DELETE', `/credentials/${id}`);
    const { token: apiToken } = await program.must('POST', '/api_keys', {});
    const expected = [
      [token, 'ERR_NGROK_107', /The authtoken is not valid.*create another credential/s],
      [apiToken, 'ERR_NGROK_107', /The authtoken is not valid/],
      ['no-token', 'ERR_NGROK_105', /does not have the form of a token/],
    ] as const;
    for (const [refused, code, text] of expected) {
      const error = await refusal(served().agent(refused, [{}]));
      assert.equal(error.errorCode, code);
      assert.match(error.message, text);
    }
    assert.deepEqual((await program.must('GET', '/tunnel_sessions')).tunnel_sessions, []);
  });

  test('an option that is not carried out is refused by its name, and nothing is opened', async () => {
    const { program } = served();
    const asked = { domain: 'oauth.localhost', oauth_provider: 'google' };
    const error = await refusal(served().agent(await served().newToken(), [asked]));
    assert.equal(error.errorCode, 'ERR_NGROK_20131');
    assert.match(error.message, /Not offered here: OAuth\./);
    assert.deepEqual((await program.must('GET', '/endpoints')).endpoints, []);
    await assert.rejects(served().ask('oauth.localhost'));
  });

  test('an address in place of a name is served with a certificate for it', async () => {
    const session = { server_addr: `127.0.0.1:${served().agentPort}` };
    await served().agent(await served().newToken(), [{ domain: 'by-address.localhost' }], { session });
    assert.equal((await served().ask('by-address.localhost')).status, 200);
  });

  async function codeOf(hostname: string): Promise<readonly [number, number | undefined]> {
    const { status, errorCode } = await served().ask(hostname);
    return [status, errorCode];
  }
});
