import { once } from 'node:events';
import { connect } from 'node:tls';

import { authBody, TestAgent } from './test-agent.ts';
import type { AgentBehaviour } from './test-agent.ts';

const commands = { StopUnsupportedError: '', RestartUnsupportedError: '', UpdateUnsupportedError: '' };

interface SignInOptions extends AgentBehaviour {
  readonly known?: { readonly clientId?: string; readonly cookie?: string };
}

/** Connects an agent of our own code to a Gatehouse, and lets it sign in. It says that it takes every command. */
export async function signIn(
  port: number,
  ca: string,
  token: string,
  { known, ...behaviour }: SignInOptions = {},
): Promise<{ readonly agent: TestAgent; readonly answer: Readonly<Record<string, unknown>> }> {
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca });
  await once(socket, 'secureConnect');
  const agent = new TestAgent(
    socket.setNoDelay(true).on('error', () => {}),
    behaviour,
  );
  // The form is that of `authBody`.
  const body = authBody(token, known) as { readonly Extra: object };
  return { agent, answer: await agent.call('auth', { ...body, Extra: { ...body.Extra, ...commands } }) };
}
