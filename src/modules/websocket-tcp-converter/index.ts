import type { Static } from 'typebox';

import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';

const Input = moduleInput(
  'WebsocketTcpConverter',
  {},
  'Accepts WebSocket connections only, and passes the bytes of their messages to a backend that speaks no HTTP, such as ' +
    'a database or an SSH server. What the backend sends comes back in binary messages.',
);
const View = moduleView('WebsocketTcpConverter', {});

/** Takes WebSocket connections, and passes on the bytes of their messages to a program that speaks no HTTP. */
export const websocketTcpConverter: EdgeModule<Static<typeof Input>> = {
  name: 'websocket_tcp_converter',
  title: 'WebSocket TCP Converter',
  targets: ['https_route', 'agent_endpoint'],
  input: Input,
  view: View,
  errors: [],
  accept: ({ enabled = true }) => ({ enabled }),
  present: (settings) => settings,
  build: () => ({ convertsWebsocket: true }),
};
