import { EventEmitter } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';

/** Codes of the errors by which a socket learns that its other side has gone. */
const gone = new Set(['ECONNRESET', 'EPIPE']);
/** Position of the caller among the frames, below two of this file. */
const callersFrame = 2;

/**
 * Lets no test fail because the other side of a connection of its own goes: what is stopped at the end of a test resets what
 * is open, and an error without a listener ends the whole file. Tests see by answers whether something broke before. It
 * leaves alone what the product opens, connections that cannot be made, requests without an answer, and all other errors.
 */
export function ignoreResets(): void {
  for (const [from, event] of [
    [net, 'connect'],
    [tls, 'secureConnect'],
    [http2, 'connect'],
  ] as const) {
    const connect = aroundTests(from.connect, (client) => client.once(event, () => listen(client)));
    Object.assign(from, from === net ? { connect, createConnection: connect } : { connect });
  }
  for (const from of [http, https]) {
    // A listener for the answer would have to read it.
    const request = aroundTests(from.request, (sent) => listen(sent, () => 'res' in sent && Boolean(sent.res)));
    Object.assign(from, { request });
  }
  for (const from of [net, tls, http, https]) {
    const event = from === tls || from === https ? 'secureConnection' : 'connection';
    const createServer = aroundTests(from.createServer, (server) => server.on(event, (socket) => listen(socket)));
    Object.assign(from, { createServer });
  }
  syncBuiltinESMExports();
}

/** Hands on to `then` what the function makes for a test, or for a helper of tests. */
function aroundTests(original: (...args: never[]) => EventEmitter, then: (made: EventEmitter) => void) {
  return new Proxy(original, {
    apply(target, self, args) {
      const made: unknown = Reflect.apply(target, self, args);
      if (made instanceof EventEmitter && isFromTest()) then(made);
      return made;
    },
  });
}

function isFromTest(): boolean {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  // Each call of a test asks: a trace in words would take four times as long.
  Error.stackTraceLimit = callersFrame + 1;
  Error.prepareStackTrace = (_, frames) => frames[callersFrame]?.getFileName() ?? '';
  const caller = String(new Error('whose call this is').stack);
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return /\.test\.ts$|\/test\//.test(caller) && !caller.includes('/node_modules/');
}

function listen(connection: EventEmitter, isUp = () => true): void {
  // One that listens once is gone when it has been told.
  connection.prependListener('error', (error: NodeJS.ErrnoException) => {
    const isExpected = gone.has(error.code ?? '') && isUp();
    if (!isExpected && connection.listenerCount('error') === 1) throw error;
  });
}
