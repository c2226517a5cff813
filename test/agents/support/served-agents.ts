import assert from 'node:assert/strict';
import { after, afterEach, before, describe } from 'node:test';

import ngrok from '@ngrok/ngrok';
import type { Session, SessionBuilder } from '@ngrok/ngrok';

import type { Flags } from '../../../src/config/config.ts';
import { until } from '../../e2e/gateway/support/until.ts';
import { onAnyDatabase, onEachDatabase } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { signIn } from './sign-in.ts';
import type { TestAgent } from './test-agent.ts';

/** A Gatehouse that serves agents, and agents that connect to it. */
export interface ServedAgents {
  readonly gatehouse: Gatehouse;
  readonly ca: string;
  readonly port: number;
  /** The unmodified library of the hosted service; its session is closed after the test. */
  readonly library: (token: string, change?: (builder: SessionBuilder) => SessionBuilder) => Promise<Session>;
  /** An agent made of our own code. */
  readonly agent: (
    token: string,
    known?: { readonly clientId?: string; readonly cookie?: string },
  ) => Promise<SignedIn>;
}

export interface SignedIn {
  readonly agent: TestAgent;
  readonly known: { readonly clientId: string; readonly cookie: string };
  readonly sessionId: string;
}

type Suite = (served: () => ServedAgents) => void;

/** Runs the suite once for each kind of database, with one Gatehouse for all its tests. */
export function onEachServed(name: string, suite: Suite, settings: Flags = {}): void {
  onEachDatabase(name, (newDatabase) => {
    withOneGatehouse(newDatabase, suite, settings);
  });
}

/** The same for what does not depend on the kind of database. */
export function onServed(name: string, suite: Suite, settings: Flags = {}): void {
  onAnyDatabase(name, (newDatabase) => {
    withOneGatehouse(newDatabase, suite, settings);
  });
}

function withOneGatehouse(newDatabase: () => Promise<string>, suite: Suite, settings: Flags): void {
  describe('with one Gatehouse', () => {
    let served: (ServedAgents & { readonly cleanUp: () => Promise<void> }) | undefined;
    before(async () => {
      served = await serveAgents(await newDatabase(), settings);
    });
    afterEach(() => served?.cleanUp());
    after(() => served?.gatehouse[Symbol.asyncDispose]());
    suite(() => served ?? assert.fail('the Gatehouse runs only while tests do'));
  });
}

export async function serveAgents(
  databaseUrl: string,
  settings: Flags = {},
): Promise<ServedAgents & { readonly cleanUp: () => Promise<void> }> {
  const gatehouse = await Gatehouse.start(databaseUrl, {
    agentListen: '127.0.0.1:0',
    httpsListen: '127.0.0.1:0',
    vendor: 'ngrok',
    drainSeconds: '0',
    ...settings,
  });
  const port = gatehouse.app.agents?.port ?? 0;
  const ca = gatehouse.app.engine?.caCertificatePem ?? '';
  const cleanUps: (() => Promise<unknown>)[] = [];
  return {
    gatehouse,
    ca,
    port,
    async library(token, change = (builder) => builder) {
      const builder = new ngrok.SessionBuilder();
      builder.authtoken(token).serverAddr(`localhost:${port}`).caCert(Buffer.from(ca));
      const session = await change(builder).connect();
      cleanUps.push(async () => {
        for (const listener of await session.listeners()) await listener.close();
        await session.close();
      });
      return session;
    },
    async agent(token, known = {}) {
      const { agent, answer } = await signIn(port, ca, token, { known });
      cleanUps.push(async () => agent.socket.destroy());
      assert.equal(answer['Error'], undefined);
      // The form of the answer is that of `authResponse`.
      const extra = answer['Extra'] as { Cookie: string; AgentSessionID: string };
      const given = { clientId: String(answer['ClientId']), cookie: extra.Cookie };
      return { agent, known: given, sessionId: extra.AgentSessionID };
    },
    async cleanUp() {
      for (const cleanUp of cleanUps.splice(0)) await cleanUp();
      // The library says that it leaves, and leaves its connection open: deleting its credential closes it.
      for (const { id } of (await gatehouse.get('/credentials')).body.credentials) {
        await gatehouse.delete(`/credentials/${id}`);
      }
      const ids = async () => (await gatehouse.get('/tunnel_sessions')).body.tunnel_sessions.length;
      await until(async () => (await ids()) === 0, 'no session left');
    },
  };
}

export async function newToken(gatehouse: Gatehouse, body: object = {}, token?: string): Promise<string> {
  const { token: secret } = await gatehouse.create('/credentials', body, token === undefined ? {} : { token });
  return String(secret);
}
