import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import ngrok from '@ngrok/ngrok';
import type { Session } from '@ngrok/ngrok';

import { askHttps } from '../e2e/gateway/support/traffic.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { startUpstream } from '../e2e/gateway/support/upstream.ts';
import { freePort } from '../support/free-port.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { scratchFolder } from '../support/scratch.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

const bin = fileURLToPath(new URL('../../bin', import.meta.url));

onDashboard(
  'the pages of agents',
  (d) => {
    const g = () => d().gatehouse;

    /** An agent that does not know how to update itself. */
    async function connectPlain(token: string): Promise<Session> {
      const { agents, engine } = g().app;
      return new ngrok.SessionBuilder()
        .authtoken(token)
        .serverAddr(`localhost:${agents?.port}`)
        .caCert(Buffer.from(engine?.caCertificatePem ?? ''))
        .connect();
    }

    async function connect(token: string, onCommand: (command: string) => void = () => undefined): Promise<Session> {
      const { agents, engine } = g().app;
      return new ngrok.SessionBuilder()
        .authtoken(token)
        .serverAddr(`localhost:${agents?.port}`)
        .caCert(Buffer.from(engine?.caCertificatePem ?? ''))
        .handleStopCommand(() => onCommand('stop'))
        .handleRestartCommand(() => onCommand('restart'))
        .handleUpdateCommand(() => onCommand('update'))
        .connect();
    }

    test('a credential shows its token once; an agent signs in with it; deleting it ends the session', async () => {
      const page = await d().open({ path: '/agents' });
      await page.getByRole('button', { name: 'Connect an agent' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Description').fill('depot Gdansk');
      await dialog.getByRole('button', { name: 'Add rule' }).click();
      await dialog.getByLabel('Rule').fill('gdansk.localhost');
      await dialog.getByRole('button', { name: 'Create credential' }).click();
      await dialog.getByText('The acl rule "gdansk.localhost" is not acceptable').waitFor();
      assert.equal(await dialog.getByLabel('Rule').getAttribute('aria-invalid'), 'true');
      await dialog.getByLabel('Rule').fill('bind:gdansk.localhost');
      await dialog.getByRole('button', { name: 'Create credential' }).click();

      await dialog.getByText('shown this once').waitFor();
      const token = (await dialog.locator('.secret code').last().textContent()) ?? '';
      assert.ok(await dialog.getByRole('button', { name: 'Done' }).isDisabled());
      await page.keyboard.press('Escape');
      await dialog.getByLabel('I have stored the token').check();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'hidden' });
      assert.ok(!(await page.content()).includes(token), 'the token is still on the page');
      assert.ok(!page.url().includes(token));

      const session = await connect(token);
      const listener = await session.httpEndpoint().domain('gdansk.localhost').listenAndForward('http://127.0.0.1:1');
      await page.goto('/dashboard/agents');
      await page.getByRole('link', { name: 'depot Gdansk' }).click();
      await page.getByText(listener.url() ?? '').waitFor();
      await page.getByText('Online').waitFor();

      await lead(page, '/agents?tab=credentials');
      await page.getByRole('link', { name: 'depot Gdansk' }).click();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByText('1 session ends').waitFor();
      await dialog.getByLabel('Type depot Gdansk to go on').fill('depot Gdansk');
      await dialog.getByRole('button', { name: 'Delete credential' }).click();
      await page.getByText('Deleted the credential depot Gdansk.').waitFor();
      const left = async () => (await g().get('/tunnel_sessions')).body.tunnel_sessions.length;
      await until(async () => (await left()) === 0, 'the session ends');
    });

    test('one command connects an agent, and the page shows the address that a browser opens as soon as it is there', async () => {
      await using upstream = await startUpstream();
      const page = await d().open({ path: '/agents?create=1' });
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Description').fill('my laptop');
      await dialog.getByRole('button', { name: 'Create credential' }).click();
      await dialog.getByText('Waiting for it to connect').waitFor();
      await dialog.getByLabel('Port of your program').fill(String(upstream.port));
      // The credential alone stands there until the page knows the address of the server.
      const shown = dialog.locator('.secret code').filter({ hasText: `gatehouse http ${upstream.port} ` });
      const command = (await shown.textContent()) ?? '';
      assert.match(
        command,
        /^GATEHOUSE_AUTHTOKEN=\S+ gatehouse http \d+ --server \S+:\d+ --fingerprint sha256:[\da-f]{64}$/,
      );
      await lookAt(page, 'agent-connect');
      const home = { PATH: `${bin}:${process.env['PATH']}`, XDG_CONFIG_HOME: scratchFolder() };
      await using agent = new GatehouseProcess(['-c', command], home, '/bin/bash');
      const address = await agent.printed(/online (\S+) -> /);
      await dialog.getByText('Connected', { exact: true }).waitFor();
      const link = dialog.getByRole('link', { name: address });
      assert.equal(await link.getAttribute('href'), address);
      assert.equal(new URL(address).port, String(g().httpsPort));
      const { status } = await askHttps(g().httpsPort, new URL(address).hostname, {});
      assert.equal(status, 200);
      await lookAt(page, 'agent-connected');
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'hidden' });
    });

    test('two agents of one credential are told apart by what they serve', async () => {
      const { token, id } = await g().create('/credentials', { description: 'twins' });
      const sessions = [await connect(token), await connect(token)];
      const names = ['first.localhost', 'second.localhost'];
      for (const [at, session] of sessions.entries())
        await session
          .httpEndpoint()
          .domain(names[at] ?? '')
          .listenAndForward('http://127.0.0.1:1');
      const page = await d().open({ path: '/agents' });
      for (const name of names) await page.getByRole('row', { name }).getByRole('link', { name: 'twins' }).waitFor();
      await lookAt(page, 'agent-sessions');
      await page.getByRole('row', { name: 'second.localhost' }).getByRole('link', { name: 'twins' }).click();
      await page.getByText('https://second.localhost').waitFor();
      await askHttps(g().httpsPort, 'second.localhost', {});
      await until(async () => (await g().get('/decisions')).body.decisions.length > 0, 'its request is kept');
      const traffic = page.locator('.pictures').filter({ hasText: 'Traffic of what it serves' });
      await page.reload();
      await traffic.getByText('1 request in the last hour', { exact: false }).waitFor();
      await traffic.getByText('As a table').click();
      await traffic.getByRole('rowheader').getByRole('link').click();
      const agent = page.getByLabel('Agent').locator('option:checked', { hasText: 'twins at 127.0.0.1' });
      await agent.waitFor({ state: 'attached' });
      await page.locator('[data-row-link]').first().waitFor();
      await page.goBack();
      assert.equal(await page.getByText('https://first.localhost').count(), 0);
      await g().delete(`/credentials/${id}`);
    });

    test('an agent is told to restart and to stop, and its tunnels are named before', async () => {
      const { token, id } = await g().create('/credentials', { description: 'printer hub' });
      const commands: string[] = [];
      const session = await connect(token, (command) => commands.push(command));
      const listener = await session.httpEndpoint().domain('print.localhost').listenAndForward('http://127.0.0.1:1');
      const page = await d().open({ path: '/agents' });
      await page.getByRole('link', { name: 'printer hub' }).click();
      await page.getByRole('button', { name: 'Restart' }).click();
      await until(() => commands.includes('restart'), 'the agent is told to restart');
      await page.getByText('The agent was told to restart.').waitFor();
      await page.getByRole('button', { name: 'Stop…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(listener.url() ?? '').waitFor();
      await dialog.getByRole('button', { name: 'Stop agent' }).click();
      await until(() => commands.includes('stop'), 'the agent is told to stop');
      await page.getByText('Stopped the agent printer hub.').waitFor();
      await g().delete(`/credentials/${id}`);
    });

    test('an agent is told to update where it can, and the page says why where it cannot', async () => {
      const { token, id } = await g().create('/credentials', { description: 'updates itself' });
      const commands: string[] = [];
      await connect(token, (command) => commands.push(command));
      const page = await d().open({ path: '/agents' });
      await page.getByRole('link', { name: 'updates itself' }).click();
      await page.getByRole('button', { name: 'Update' }).click();
      await until(() => commands.includes('update'), 'the agent is told to update');
      await page.getByText('The agent was told to update itself').waitFor();

      const plain = await g().create('/credentials', { description: 'stays as it is' });
      await connectPlain(plain.token);
      await page.goto('/dashboard/agents');
      await page.getByRole('link', { name: 'stays as it is' }).click();
      await page.getByRole('button', { name: 'Update' }).click();
      await page.getByText('The agent cannot carry out the command update').waitFor();
      assert.equal(await page.getByText('The agent was told').count(), 0);
      await lookAt(page, 'agent-session-no-update');
      await g().delete(`/credentials/${id}`);
      await g().delete(`/credentials/${plain.id}`);
    });

    test('tunnels and endpoints are listed, with who serves them', async () => {
      const { token, id } = await g().create('/credentials', { description: 'labels' });
      const backend = await g().create('/backends/tunnel_group', { labels: { app: 'scanner' } });
      const session = await connect(token);
      const labelled = session.labeledListener();
      await labelled.label('app', 'scanner').listenAndForward('http://127.0.0.1:9100');
      const named = await session.httpEndpoint().domain('named.localhost').listenAndForward('http://127.0.0.1:3000');
      const page = await d().open({ path: '/agents?tab=tunnels' });
      await page.getByText('app=scanner').waitFor();
      await page.getByRole('link', { name: 'labels, in a group' }).click();
      await page.waitForURL(new RegExp(backend.id));
      await lead(page, '/endpoints');
      await page.getByText(named.url() ?? '').waitFor();
      await page.getByRole('link', { name: 'An agent' }).click();
      await page.getByRole('heading', { name: 'labels' }).waitFor();
      await g().delete(`/credentials/${id}`);
    });

    test('of two people who edit one credential, the second sees the change of the first', async () => {
      const credential = await g().create('/credentials', { description: 'shared' });
      const page = await d().open({ path: `/agents/${credential.id}?edit=1` });
      await page.getByLabel('Description').fill('mine');
      await g().patch(`/credentials/${credential.id}`, { acl: ['bind:theirs.localhost'] });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Your edit is kept and not saved.').waitFor();
      await page.getByRole('button', { name: 'Put mine on top' }).click();
      await page.getByRole('heading', { name: 'mine' }).waitFor();
      const { body } = await g().get(`/credentials/${credential.id}`);
      assert.deepEqual([body.description, body.acl], ['mine', ['bind:theirs.localhost']]);
    });
  },
  async () => ({
    agentListen: '127.0.0.1:0',
    // Known before, as an operator's is: URLs hold it.
    httpsListen: `127.0.0.1:${await freePort()}`,
    vendor: 'ngrok',
    drainSeconds: '0',
    decisions: scratchFolder(),
  }),
);
