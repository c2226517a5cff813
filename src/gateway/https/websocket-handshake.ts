import { createHash } from 'node:crypto';

import { UserError } from '../../errors/user-error.ts';
import { findHeader } from '../../lib/header-list.ts';
import { listTokens } from '../../lib/http-syntax.ts';
import { websocketRequired } from '../errors.ts';
import type { Exchange } from './exchange.ts';

/** RFC 6455, 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const keyForm = /^[A-Za-z0-9+/]{22}==$/;

/** Throws unless the request opens a WebSocket. */
export function checkWebsocket({ method, upgrade, headers }: Exchange): void {
  const refuse = (reason: string): UserError => new UserError(websocketRequired, { reason });
  if (upgrade?.toLowerCase() !== 'websocket')
    throw refuse('the request asks for no upgrade to "websocket" by HTTP/1.1');
  if (method !== 'GET') throw refuse('its method is not GET');
  if (findHeader(headers, 'sec-websocket-version') !== '13') throw refuse('Sec-WebSocket-Version is not 13');
  if (!keyForm.test(findHeader(headers, 'sec-websocket-key') ?? '')) throw refuse('Sec-WebSocket-Key has no 16 bytes');
}

/** Headers of the answer to a request that `checkWebsocket` has passed. */
export function acceptWebsocket({ headers }: Exchange): readonly string[] {
  const key = findHeader(headers, 'sec-websocket-key') ?? '';
  const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
  // Browsers give up if they offer protocols and none is chosen; "binary" is the usual name of this one.
  const offered = listTokens(findHeader(headers, 'sec-websocket-protocol') ?? '');
  const [chosen] = offered.includes('binary') ? ['binary'] : offered;
  return [
    'Connection',
    'Upgrade',
    'Upgrade',
    'websocket',
    'Sec-WebSocket-Accept',
    accept,
    ...(chosen === undefined ? [] : ['Sec-WebSocket-Protocol', chosen]),
  ];
}
