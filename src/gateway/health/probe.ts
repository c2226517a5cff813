import type { Socket } from 'node:net';

import type { ActiveCheckEntry } from '../../snapshot/contract.ts';
import type { ConnectUpstream, UpstreamTarget } from '../upstream/connect.ts';
import { inRanges } from './backend-addresses.ts';
import { formatAddress } from './target.ts';

/** All probes read into it: what they read is looked at before the next one does. */
const readMemory = Buffer.alloc(4096);
const statusLine = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |\r|$)/;
/** Length of the part of an answer that has the status, and a character behind it. */
const statusLength = 13;
const alpn = ['http/1.1'];

/**
 * Checks an address once. `begun` is called when it no longer waits for other accounts. `done` gets the fault, or undefined; it is
 * not called after the returned function was.
 */
export function probe(
  connect: ConnectUpstream,
  target: UpstreamTarget,
  check: ActiveCheckEntry,
  begun: () => void,
  done: (fault: string | undefined) => void,
): () => void {
  let answer = '';
  let isOver = false;
  const end = (fault: string | undefined): void => {
    if (isOver) return;
    close();
    done(fault);
  };
  const close = (): void => {
    isOver = true;
    socket.destroy();
  };
  const take = (text: string): void => {
    if (isOver) return;
    answer += text;
    if (answer.length < statusLength) return;
    const status = Number(statusLine.exec(answer.slice(0, statusLength))?.[1] ?? 0);
    if (status === 0) end('it does not answer with HTTP/1');
    else end(inRanges(check.statuses, status) ? undefined : `it answered ${status}`);
  };
  const onread = {
    buffer: readMemory,
    callback: (length: number) => {
      take(readMemory.toString('latin1', 0, Math.min(length, statusLength)));
      return true;
    },
  };
  const isHttp = check.kind === 'http';
  const socket: Socket = connect(target, { noDelay: false, onread, begun, ...(isHttp && { alpn }) }, () => {
    if (isHttp) socket.write(requestHead(target, check), 'latin1');
    else end(undefined);
  });
  socket.on('error', (error) => end(error.message));
  socket.on('close', () => end('it closed the connection without an answer'));
  if (target.tls && isHttp) socket.on('data', (chunk: Buffer) => take(chunk.toString('latin1', 0, statusLength)));
  return close;
}

function requestHead(target: UpstreamTarget, { path, host }: ActiveCheckEntry): string {
  return (
    `GET ${path} HTTP/1.1\r\nHost: ${host ?? formatAddress(target)}\r\n` +
    'User-Agent: Gatehouse-Health-Check\r\nAccept: */*\r\nConnection: close\r\n\r\n'
  );
}
