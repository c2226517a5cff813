import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as requestHttps } from 'node:https';
import { after, before, test } from 'node:test';

import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { TcpProxy } from '../many-processes/support/tcp-proxy.ts';
import { LibraryError } from './support/library-agent.ts';
import type { LibraryAgent, PlainConfig } from './support/library-agent.ts';
import { onServed } from './support/served.ts';

/** Who may connect as an agent, at the start and from one moment to the next. */
onServed('agents and their rules', (served) => {
  const stranger = '127.0.0.9';
  let proxy: TcpProxy | undefined;
  before(async () => {
    proxy = await TcpProxy.to(served().agentPort);
  });
  after(() => proxy?.[Symbol.asyncDispose]());

  /** Starts an agent whose connection comes from this address. */
  async function agentFrom(address: string, token: string, listener: PlainConfig = {}): Promise<LibraryAgent> {
    assert.ok(proxy);
    proxy.source = address;
    return served().agent(token, [listener], { session: { server_addr: `localhost:${proxy.port}` } });
  }

  async function restrict(enforced: boolean, ...cidrs: readonly string[]) {
    const { program } = served();
    const policy = await program.must('POST', '/ip_policies', {});
    await program.must('PUT', `/ip_policies/${policy.id}/rules`, cidrs);
    const body = { type: 'agent', enforced, ip_policy_ids: [policy.id] };
    const { id } = await program.must('POST', '/ip_restrictions', body);
    return {
      id,
      rulesPath: `/ip_policies/${policy.id}/rules`,
      path: `/ip_restrictions/${id}`,
      [Symbol.asyncDispose]: () => program.must('DELETE', `/ip_restrictions/${id}`),
    };
  }

  async function refusal(work: Promise<unknown>): Promise<LibraryError> {
    const error: unknown = await work.then(
      () => assert.fail('it was let in'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof LibraryError, String(error));
    return error;
  }

  async function isOnline(agent: LibraryAgent): Promise<boolean> {
    const { status, errorCode } = await served().ask(agent.hostname);
    assert.ok(status === 200 || (status === 503 && errorCode === 3200), `${status} ${errorCode}`);
    return status === 200;
  }

  async function sessionCount(): Promise<number> {
    return (await served().program.must('GET', '/tunnel_sessions')).tunnel_sessions.length;
  }

  test('an enforced restriction refuses with the address and 3206, and lets the others in', async () => {
    const { program } = served();
    await using restriction = await restrict(true, '127.0.0.2/32');
    const token = await served().newToken();
    const { errorCode, message } = await refusal(agentFrom(stranger, token));
    assert.equal(errorCode, 'ERR_NGROK_3206');
    assert.match(message, /Agents may not connect from 127\.0\.0\.9: an IP restriction/);
    const check = await program.must('POST', '/ip_check', { ip: stranger, type: 'agent' });
    assert.equal(check.allowed, false);
    assert.ok(JSON.stringify(check).includes(restriction.id));
    assert.equal(await sessionCount(), 0);
    assert.ok(await isOnline(await agentFrom('127.0.0.2', token)));
  });

  test('one that is not enforced lets them in, counts them, and ip_check says what enforcing would do', async () => {
    const { program } = served();
    await using restriction = await restrict(false, '127.0.0.2/32');
    const token = await served().newToken();
    for (let round = 0; round < 2; round++) assert.ok(await isOnline(await agentFrom(stranger, token)));
    await agentFrom('127.0.0.2', token);
    const warnings = async () => (await program.must('GET', `${restriction.path}/warnings`)).warnings;
    await until(async () => (await warnings())[0]?.count === 2, 'both are counted');
    assert.deepEqual(
      (await warnings()).map(({ source }: { readonly source: string }) => source),
      [stranger],
    );
    const check = await program.must('POST', '/ip_check', { ip: stranger, type: 'agent' });
    assert.equal(check.allowed, true);
    assert.equal(check.allowed_if_all_enforced, false);
  });

  test('a rule that goes closes the sessions it let in before the call is answered, and no others', async () => {
    const { program } = served();
    await using restriction = await restrict(true, '127.0.0.2/32', '127.0.0.3/32');
    const token = await served().newToken();
    const [stays, goes] = [await agentFrom('127.0.0.2', token), await agentFrom('127.0.0.3', token)];
    assert.ok((await isOnline(stays)) && (await isOnline(goes)));
    await program.must('PUT', restriction.rulesPath, ['127.0.0.2/32']);
    assert.equal(await isOnline(goes), false);
    assert.ok(await isOnline(stays));
    await until(async () => (await sessionCount()) === 1, 'its session is gone');
    assert.ok(goes.statuses.includes('closed'));
  });

  test('a restriction that becomes enforced closes the sessions that it refuses', async () => {
    const { program } = served();
    await using restriction = await restrict(false, '127.0.0.2/32');
    const agent = await agentFrom(stranger, await served().newToken());
    assert.ok(await isOnline(agent));
    await program.must('PATCH', restriction.path, { enforced: true });
    assert.equal(await isOnline(agent), false);
  });

  test('deleting the credential cuts a download in the middle', async () => {
    const { program, agentPort } = served();
    const left = Promise.withResolvers<void>();
    await using upstream = await startUpstream('endless', (_request, response) => {
      response.on('close', left.resolve);
      const chunk = Buffer.alloc(10_000, 'x');
      const timer = setInterval(() => response.write(chunk), 10);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
    const { id, token } = await served().newCredential();
    const session = { server_addr: `localhost:${agentPort}` };
    const agent = await served().agent(token, [{ addr: `127.0.0.1:${upstream.port}` }], { session });
    const request = requestHttps({
      host: '127.0.0.1',
      port: program.httpsPort,
      servername: agent.hostname,
      headers: { host: agent.hostname },
      rejectUnauthorized: false,
      agent: false,
    });
    request.end();
    const [response] = await once(request, 'response');
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', () => {});
    await until(() => bytes > 100_000, 'the download is under way');
    await program.must('DELETE', `/credentials/${id}`);
    await until(() => response.destroyed, 'the download is cut');
    assert.equal(response.complete, false);
    await left.promise;
    assert.equal((await served().ask(agent.hostname)).errorCode, 3200);
    assert.equal((await refusal(served().agent(token, [{}]))).errorCode, 'ERR_NGROK_107');
  });

  test('deactivating the owner closes the sessions of its credentials, and refuses new ones', async () => {
    const { program } = served();
    const bot = await program.must('POST', '/bot_users', { name: 'owner of agents' });
    const { token } = await served().newCredential({ owner_id: bot.id });
    const agent = await served().agent(token, [{}]);
    const other = await served().agent(await served().newToken(), [{}]);
    assert.ok((await isOnline(agent)) && (await isOnline(other)));
    await program.must('PATCH', `/bot_users/${bot.id}`, { active: false });
    assert.equal(await isOnline(agent), false);
    assert.ok(await isOnline(other));
    assert.equal((await refusal(served().agent(token, [{}]))).errorCode, 'ERR_NGROK_300');
  });
});
