import ngrok from '@ngrok/ngrok';
import type { Config } from '@ngrok/ngrok';

import type { FromAgent, ToAgent } from './library-agent.ts';

/**
 * A program that uses the hosted service's own library, unmodified, as its users do. It runs in a process of its own, so
 * that tests can kill and freeze it.
 */
async function serve({ session, listeners, stops }: Extract<ToAgent, { readonly kind: 'start' }>): Promise<void> {
  const { authtoken = '', server_addr = '', session_ca_cert = '', session_metadata = '' } = session;
  if (stops === true) {
    // A handler of commands is an option of the builder only.
    const builder = new ngrok.SessionBuilder();
    builder.authtoken(authtoken).serverAddr(server_addr).caCert(Buffer.from(session_ca_cert));
    builder.metadata(session_metadata).handleStopCommand(() => {
      // After the answer to the command has left.
      setTimeout(() => process.exit(0), 100);
    });
    const opened = await builder.connect();
    const [{ addr = '', domain = '' } = {}] = listeners;
    const listener = await opened.httpEndpoint().domain(domain).listenAndForward(`http://${addr}`);
    send({ kind: 'up', endpoints: [{ id: listener.id(), url: listener.url() ?? '' }] });
    return;
  }
  const endpoints = [];
  for (const each of listeners) endpoints.push(await open({ ...session, ...each }));
  send({ kind: 'up', endpoints });
}

async function open(config: Config): Promise<{ readonly id: string; readonly url: string }> {
  const listener = await ngrok.forward({
    ...config,
    onStatusChange: (status) => {
      send({ kind: 'status', status });
    },
  });
  return { id: listener.id(), url: listener.url() ?? '' };
}

function send(message: FromAgent): void {
  process.send?.(message);
}

async function carryOut(message: ToAgent): Promise<void> {
  try {
    if (message.kind === 'start') await serve(message);
    else {
      await ngrok.disconnect(message.url);
      send({ kind: 'closed' });
    }
  } catch (error) {
    const { message: text, errorCode } = error as Error & { readonly errorCode?: string };
    send({ kind: 'failed', text, errorCode: errorCode ?? '' });
  }
}

// Only the parent sends messages, and only of this form.
process.on('message', (message) => void carryOut(message as ToAgent));
process.on('disconnect', () => process.exit(0));
