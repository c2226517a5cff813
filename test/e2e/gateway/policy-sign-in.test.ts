import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { documentedPolicy, policyOf, refusalOf } from '../../gateway/support/policies.ts';
import { clientId, clientSecret } from '../../support/identity-provider.ts';
import { SignInSite, start } from './support/sign-in-site.ts';
import { until } from './support/until.ts';

/** Visitors sign in with a real OpenID provider because a policy asks them to. */
for (const workers of ['off', '2'])
  suite(`sign-in by a traffic policy (workers: ${workers})`, () => {
    let at: SignInSite;
    before(async () => {
      at = await SignInSite.start({ workers });
    });
    after(() => at[Symbol.asyncDispose]());

    const put = async (document: string | object) => {
      const value = typeof document === 'string' ? document : JSON.stringify(document);
      const { status, body } = await at.site.gatehouse.put(`${at.site.routePath}/traffic_policy`, { value });
      assert.equal(status, 200, JSON.stringify(body));
    };
    const login = (more: object = {}) => ({
      type: 'openid-connect',
      config: { issuer_url: at.provider.issuer, client_id: clientId, client_secret: clientSecret, ...more },
    });

    test('the documented policy lets in people of a domain alone, and tells the upstream who they are', async () => {
      const text = documentedPolicy('oauth and openid-connect')
        .replace('https://id.example.com', at.provider.issuer)
        .replace('my-client', clientId)
        .replace('a long secret', clientSecret);
      await put(text);
      const ada = await at.visitor().signIn(`${start}orders?x=1`, 'ada');
      assert.equal(ada.status, 200, ada.text);
      assert.equal(ada.url, `${start}orders?x=1`);
      assert.equal(ada.echo?.headers['gatehouse-user-email'], 'ada@example.com');
      assert.equal(ada.echo?.headers['x-person'], 'ada');
      const bob = await at.visitor().signIn(start, 'bob');
      assert.equal(bob.status, 403);
      // An address that the provider has not verified is none, and what cannot be decided closes.
      const eve = await at.visitor().signIn(start, 'eve');
      assert.equal(eve.status, 500);
      assert.match(eve.text, /2254/);
      assert.doesNotMatch(JSON.stringify(at.site.gatehouse.logLines), new RegExp(clientSecret));
      await at.endAll();
    });

    test('programs are refused, paths without a login pass, and nobody says who they are there', async () => {
      await put({ on_http_request: [{ expressions: ["req.url.path != '/open'"], actions: [login()] }] });
      const one = at.visitor();
      assert.equal((await one.ask(start, { headers: { accept: 'application/json' } })).status, 401);
      const open = await one.ask(`${start}open`, { headers: { 'gatehouse-user-id': 'root' } });
      assert.deepEqual([open.status, open.echo?.headers['gatehouse-user-id']], [200, undefined]);
    });

    test('a policy with other durations, parameters and preflights', async () => {
      await put({
        on_http_request: [
          {
            actions: [
              login({
                auth_id: 'staff',
                allow_cors_preflight: true,
                max_session_duration: '1h',
                idle_session_timeout: '10m',
                scopes: ['email', 'profile'],
                authz_url_params: { login_hint: 'ada' },
              }),
            ],
          },
        ],
      });
      const one = at.visitor();
      assert.equal((await one.ask(start, { method: 'OPTIONS' })).status, 200);
      assert.equal((await one.signIn(start, 'ada')).status, 200);
      const asked = new URL(one.way.find((each) => each.includes('/auth?')) ?? '').searchParams;
      assert.deepEqual([asked.get('login_hint'), asked.get('scope')], ['ada', 'openid email profile']);
      // A worker tells of a session a moment later.
      await until(async () => {
        await at.endAll();
        return (await one.ask(start)).status !== 200;
      }, 'its session has ended');
    });

    test('rules read the token that the provider has signed, also where they come to ask for it later', async () => {
      const tell = (value: string) => ({ type: 'add-headers', config: { headers: { 'x-token': value } } });
      await put({ on_http_request: [{ actions: [login(), tell('${actions.ngrok.oidc.identity.name}')] }] });
      const one = at.visitor();
      assert.equal((await one.signIn(start, 'ada')).status, 200);
      await put({ on_http_request: [{ actions: [login(), tell('${actions.ngrok.oidc.identity_token}')] }] });
      // The session began before: the visitor is sent to the provider once more.
      const { status, echo } = await one.signIn(start, 'ada');
      assert.equal(status, 200);
      const [, payload = ''] = (echo?.headers['x-token'] ?? '').split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
      assert.deepEqual([claims['iss'], claims['sub'], claims['aud']], [at.provider.issuer, 'ada', clientId]);
      assert.equal((await one.ask(start)).echo?.headers['x-token'], echo?.headers['x-token']);
      await at.endAll();
    });

    test('a client stands in a vault, and its new value works at once', async () => {
      const { gatehouse } = at.site;
      const vault = await gatehouse.create('/vaults', { name: 'logins' });
      const field = async (name: string, value: string) =>
        gatehouse.create('/vault_secrets', { name, value, vault_id: vault.id });
      await field('id', clientId);
      const secret = await field('secret', 'wrong');
      const ofVault = (name: string) => `\${secrets.get('logins', '${name}')}`;
      const client = { client_id: ofVault('id'), client_secret: ofVault('secret') };
      const missing = { on_http_request: [{ actions: [login({ ...client, client_secret: ofVault('other') })] }] };
      const refused = await gatehouse.put(`${at.site.routePath}/traffic_policy`, { value: JSON.stringify(missing) });
      assert.deepEqual([refused.status, refused.body.error_code], [400, 'ERR_GATEHOUSE_24009']);
      assert.match(refused.body.msg, /secret named "other" in the vault "logins".*policy/);
      await put({ on_http_request: [{ actions: [login(client)] }] });
      assert.notEqual((await at.visitor().signIn(start, 'ada')).status, 200);
      assert.equal((await gatehouse.patch(`/vault_secrets/${secret.id}`, { value: clientSecret })).status, 200);
      const one = at.visitor();
      assert.equal((await one.signIn(start, 'ada')).status, 200);
      assert.doesNotMatch(JSON.stringify(gatehouse.logLines), new RegExp(clientSecret));
      // Without it nobody is let in, whoever has signed in before.
      assert.equal((await gatehouse.delete(`/vault_secrets/${secret.id}`)).status, 204);
      assert.equal((await one.ask(start)).status, 500);
      assert.notEqual((await at.visitor().signIn(start, 'bob')).status, 200);
      await at.endAll();
    });

    test('two logins of one policy have sessions of their own, each with its own person', async () => {
      const byPath = (path: string, auth_id: string) => ({
        expressions: [`req.url.path.startsWith('/${path}')`],
        actions: [
          login({ auth_id }),
          {
            type: 'add-headers',
            config: { headers: { [`x-${path}`]: '${actions.ngrok.oidc.identity.provider_user_id}' } },
          },
        ],
      });
      await put({ on_http_request: [byPath('staff', 'staff'), byPath('shop', 'shop')] });
      const one = at.visitor();
      const staff = await one.signIn(`${start}staff`, 'ada');
      assert.deepEqual([staff.status, staff.echo?.headers['x-staff']], [200, 'ada']);
      // The provider knows its person, and this edge has no session of the other name yet.
      assert.notEqual((await one.ask(`${start}shop`)).status, 200);
      const other = at.visitor();
      const shop = await other.signIn(`${start}shop`, 'bob');
      assert.deepEqual([shop.status, shop.echo?.headers['x-shop']], [200, 'bob']);
      assert.equal((await other.ask(`${start}open`)).echo?.headers['gatehouse-user-id'], undefined);
      await at.endAll();
    });

    test('a preflight passes a login without telling of another one', async () => {
      const told = { 'x-told': '${actions.ngrok.oidc.is_signed_in} ${size(actions.ngrok.oidc.identity.groups)}' };
      await put({
        on_http_request: [
          { actions: [login({ auth_id: 'staff' })] },
          {
            expressions: ["req.url.path == '/both'"],
            actions: [
              login({ auth_id: 'shop', allow_cors_preflight: true }),
              { type: 'add-headers', config: { headers: told } },
            ],
          },
        ],
      });
      const one = at.visitor();
      assert.equal((await one.signIn(`${start}one`, 'ada')).status, 200);
      const preflight = await one.ask(`${start}both`, { method: 'OPTIONS' });
      assert.deepEqual([preflight.status, preflight.echo?.headers['x-told']], [200, 'false 0']);
      assert.notEqual((await one.ask(`${start}both`)).status, 200);
      await at.endAll();
    });

    test('what cannot be done is refused when the policy is written', () => {
      const refusalWith = (type: string, config: object) => refusalOf(policyOf(type, config));
      const own = { client_id: 'a', client_secret: 'b' };
      const issuer = { issuer_url: 'https://id.example.com', ...own };
      assert.match(refusalWith('oauth', { provider: 'google' }), /^2203 .*config\.client_id: .*register one/);
      assert.match(
        refusalWith('oauth', { provider: 'google', client_id: 'a' }),
        /config\.client_secret: .*register one/,
      );
      assert.match(refusalWith('oauth', { provider: 'myspace', ...own }), /^2222 /);
      assert.match(
        refusalWith('oauth', { provider: 'google', ...own, auth_cookie_domain: 'a.test' }),
        /one host alone/,
      );
      assert.match(refusalWith('oauth', { provider: 'google', ...own, max_session_duration: '0s' }), /^2225 /);
      assert.match(refusalWith('oauth', { provider: 'google', ...own, auth_id: 'a b' }), /config\.auth_id/);
      assert.match(
        refusalWith('openid-connect', { ...issuer, client_secret: '${req.host}' }),
        /^2224 .*config\.client_secret .*only secrets\.get\(\) is known/,
      );
      assert.match(refusalWith('openid-connect', { ...issuer, issuer_url: 'http://id.example.com' }), /^2226 .*https/);
      assert.match(
        refusalWith('openid-connect', { ...issuer, authz_url_params: { redirect_uri: 'https://evil.example' } }),
        /sets it itself/,
      );
      const twice = {
        on_http_request: [{ actions: [login(), { type: 'oauth', config: { provider: 'google', ...own } }] }],
      };
      assert.match(refusalOf(twice), /^2239 .*actions\[1\]/);
      const alike = { on_http_request: [{ actions: [login({ auth_id: 'a' }), login({ auth_id: 'a' })] }] };
      assert.match(refusalOf(alike), /^2239 .*actions\[1\]/);
    });
  });
