import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';

import type { Page } from 'playwright-core';

import { makePair } from '../support/certificate-pair.ts';
import { DashboardBrowser } from '../support/dashboard-browser.ts';
import { freePort } from '../support/free-port.ts';
import { createAccount, createUser } from '../support/people.ts';
import { onDashboard, signIn } from './support/dashboard.ts';

const { certificate_pem: cert, private_key_pem: key } = makePair('theft', '-subj', '/CN=localhost', '-days', '2');
const [api, signInField] = ['/api_keys', 'API token'];

/** Starts a server, over TLS or not, and returns its port. */
async function serve(isTls: boolean, listener: RequestListener): Promise<{ readonly server: Server; port: number }> {
  const server = isTls ? createTlsServer({ cert, key }, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this form.
  return { server, port: (server.address() as AddressInfo).port };
}

onDashboard(
  'a member of another account, with an edge on another port of the dashboard’s host name,',
  (d) => {
    afterEach(async () => {
      await d().closePages();
      // The pages have gone to other hosts on purpose.
      d().takeFaults();
    });

    const attack = async (isTls: boolean) => {
      await using stack = new AsyncDisposableStack();
      const started = async (tls: boolean, listener: RequestListener) => {
        const { server, port } = await serve(tls, listener);
        stack.defer(() => {
          server.closeAllConnections();
          server.close();
        });
        return port;
      };
      const { gatehouse } = d();
      const scheme = isTls ? 'https' : 'http';
      const apiPort = Number(new URL(gatehouse.url).port);

      // The proxy in front that ends TLS and passes the Host header on.
      const proxy: RequestListener = (incoming, answer) => {
        const headers = { ...incoming.headers, 'x-forwarded-proto': 'https' };
        const { method, url: path } = incoming;
        incoming.pipe(
          request({ host: 'localhost', port: apiPort, method, path, headers }, (response) => {
            answer.writeHead(response.statusCode ?? 500, response.headers);
            response.pipe(answer);
          }),
        );
      };
      const origin = `${scheme}://localhost:${isTls ? await started(true, proxy) : apiPort}`;

      // The program of the other account: it notes cookies, goes to itself once, and sets the cookie that it is told.
      const { token } = await createUser(gatehouse, 'member', await createAccount(gatehouse));
      const asPage = isTls ? { 'x-forwarded-proto': 'https', origin: gatehouse.url.replace('http:', 'https:') } : {};
      const thief = await DashboardBrowser.signedIn(gatehouse, token, asPage);
      const noted: string[] = [];
      let planted: string[] = [];
      const upstream = await started(isTls, (incoming, answer) => {
        noted.push(incoming.headers.cookie ?? '');
        answer.setHeader('content-type', 'text/html').setHeader('set-cookie', planted);
        answer.end('<script>if (location.search === "") location = "?again"; else document.title = "done"</script>');
      });
      const backend = { address: `localhost:${upstream}` };
      const { id } = (await gatehouse.call('POST', '/backends/static', backend, { token })).body;
      const edgePort = await freePort();
      const edge = { hostports: [`localhost:${edgePort}`], backend: { backend_id: id } };
      assert.equal((await gatehouse.call('POST', '/edges/tcp', edge, { token })).status, 201);
      const lure = await started(false, (_, answer) => {
        answer.writeHead(302, { location: `${scheme}://localhost:${edgePort}/` }).end();
      });
      const visitThief = async (page: Page) => {
        await page.goto(`http://127.0.0.1:${lure}/`);
        await page.waitForFunction('document.title === "done"');
      };

      const page = await d().openSignedOut({ context: { baseURL: origin, ignoreHTTPSErrors: true } });
      await signIn(page, gatehouse.token);
      const secret = await page.evaluate(`localStorage.getItem('gatehouse.session')`);
      await page
        .context()
        .newPage()
        .then(async (second) => {
          await second.goto('/dashboard/api-keys');
          await second.getByRole('heading', { name: 'API keys' }).waitFor();
        });

      await visitThief(page);
      const stolen = noted.find((cookie) => cookie.includes('gatehouse_session='));
      assert.ok(stolen !== undefined, 'cookies go to every port of a host');
      assert.ok(!noted.join('').includes(String(secret)));
      for (const other of ['1', thief.secret, 'a'.repeat(43)]) {
        const headers = { ...asPage, cookie: stolen, 'gatehouse-dashboard': other };
        const browser = new DashboardBrowser(gatehouse, headers);
        assert.equal((await browser.get(api)).status, 401, other);
        assert.equal((await browser.post(api, {})).status, 401, other);
      }
      await page.goto('/dashboard/api-keys');
      await page.getByRole('heading', { name: 'API keys' }).waitFor();

      const own = thief.cookie ?? '';
      const secure = isTls ? '; Secure' : '';
      planted = [`${own}; Path=/${secure}`, ...['/dashboard', api].map((path) => `${own}; Path=${path}${secure}`)];
      await visitThief(page);
      await page.goto('/dashboard/api-keys');
      const whoAmI = `fetch('/dashboard/session', { headers: { 'service-version': '2',
          'gatehouse-dashboard': localStorage.getItem('gatehouse.session') ?? '1' } })
          .then(async (answer) => [answer.status, (await answer.json()).principal?.id])`;
      await page.getByLabel(signInField).waitFor();
      assert.deepEqual(await page.evaluate(whoAmI), [401, undefined]);
      await signIn(page, gatehouse.token);
      const [status, principal] = (await page.evaluate(whoAmI)) as readonly unknown[];
      const admin = await DashboardBrowser.signedIn(gatehouse, gatehouse.token);
      const { body } = await admin.get('/dashboard/session');
      assert.deepEqual([status, principal], [200, body.principal.id], 'the one that was planted stands beside it');
      await page.goto('/dashboard/api-keys');
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
    };

    test('neither acts by the cookie nor makes anybody act by its own, without TLS', () => attack(false));
    test('neither acts by the cookie nor makes anybody act by its own, over TLS', () => attack(true));
  },
  { tcpPorts: '18000-29999', apiListen: 'localhost:0' },
);
