import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';

import { receiverPair } from './event-receiver.ts';

const tls = { key: receiverPair.private_key_pem, cert: receiverPair.certificate_pem };

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server of TCP has an address with a port.
  return (server.address() as AddressInfo).port;
}

interface SyslogMessage {
  readonly head: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of an event
  readonly event: any;
}

/** A syslog receiver, which reads RFC 5424 as its grammar has it. */
export class SyslogReceiver implements AsyncDisposable {
  readonly messages: SyslogMessage[] = [];
  readonly #close: () => void;
  readonly port: number;

  private constructor(port: number, messages: SyslogMessage[], close: () => void) {
    this.port = port;
    this.messages = messages;
    this.#close = close;
  }

  /** `onSocket` takes the place of reading. */
  static async start(protocol: 'tls' | 'tcp', onSocket?: (socket: Socket) => void): Promise<SyslogReceiver> {
    const messages: SyslogMessage[] = [];
    const sockets = new Set<Socket>();
    const take = (socket: Socket) => {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
      if (onSocket === undefined) readFrames(socket, messages);
      else onSocket(socket);
    };
    const server = protocol === 'tls' ? createTlsServer(tls, take) : createTcpServer(take);
    const port = await listen(server);
    return new SyslogReceiver(port, messages, () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
  }

  static async udp(): Promise<SyslogReceiver> {
    const messages: SyslogMessage[] = [];
    const socket = createSocket('udp4', (bytes) => messages.push(parseMessage(bytes)));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new SyslogReceiver(socket.address().port, messages, () => socket.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }
}

/** Frames of RFC 6587, with the length of each before it. */
function readFrames(socket: Socket, messages: SyslogMessage[]): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const blank = rest.indexOf(' ');
      const length = Number(rest.subarray(0, blank).toString());
      if (blank < 1 || rest.length < blank + 1 + length) return;
      messages.push(parseMessage(rest.subarray(blank + 1, blank + 1 + length)));
      rest = rest.subarray(blank + 1 + length);
    }
  });
}

const grammar =
  /^(<\d{1,3}>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z [!-~]{1,255} [!-~]{1,48} [!-~]{1,128} [!-~]{1,32} -) \u{feff}(.*)$/u;

function parseMessage(bytes: Buffer): SyslogMessage {
  const text = bytes.toString('utf8');
  const [, head, json] = grammar.exec(text) ?? [];
  if (head === undefined || json === undefined) throw new Error(`it is no message of RFC 5424: ${text}`);
  return { head, event: JSON.parse(json) };
}

interface LogRecord {
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of an event
  readonly event: any;
}

/** A receiver of OpenTelemetry logs, which checks requests against the messages of `logs.proto` in their JSON form. */
export class OtlpReceiver implements AsyncDisposable {
  readonly records: LogRecord[] = [];
  readonly #server = createServer();
  answer = '{}';

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => parts.push(part))
        .once('end', () => {
          const body = readLogs(JSON.parse(Buffer.concat(parts).toString('utf8')));
          receiver.records.push({ path: request.url ?? '', headers: request.headers, event: JSON.parse(body) });
          response.writeHead(200, { 'content-type': 'application/json' }).end(receiver.answer);
        });
    });
    await listen(receiver.#server);
    return receiver;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

type Check = (value: unknown) => void;

/** Fields of a message: each may be absent, and no other one may be there. */
function message(fields: Readonly<Record<string, Check>>): Check {
  return (value) => {
    if (typeof value !== 'object' || value === null) throw new Error(`${JSON.stringify(value)} is no message`);
    for (const [name, each] of Object.entries(value)) {
      const check = fields[name];
      if (check === undefined) throw new Error(`the protocol has no field ${name} there`);
      check(each);
    }
  };
}
const listOf =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) throw new Error(`${JSON.stringify(value)} is no list`);
    for (const each of value) check(each);
  };
const text: Check = (value) => {
  if (typeof value !== 'string') throw new Error(`${JSON.stringify(value)} is no text`);
};
/** Numbers of 64 bits are texts in JSON. */
const fixed64: Check = (value) => {
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw new Error(`${JSON.stringify(value)} is no fixed64`);
};
const severityNumber: Check = (value) => {
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > 24) throw new Error('it is no severity');
};
const anyValue = message({ stringValue: text });
const attributes = listOf(message({ key: text, value: anyValue }));
const logRecord = message({
  timeUnixNano: fixed64,
  observedTimeUnixNano: fixed64,
  severityNumber,
  severityText: text,
  eventName: text,
  body: anyValue,
  attributes,
});
const logsData = message({
  resourceLogs: listOf(
    message({
      resource: message({ attributes }),
      scopeLogs: listOf(message({ scope: message({ name: text, version: text }), logRecords: listOf(logRecord) })),
    }),
  ),
});

function readLogs(request: {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly {
      readonly logRecords: readonly { readonly body: { readonly stringValue: string } }[];
    }[];
  }[];
}): string {
  logsData(request);
  const records = request.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
  if (records.length !== 1 || records[0] === undefined) throw new Error(`it has ${records.length} records`);
  return records[0].body.stringValue;
}

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** A mail server, which keeps what it is given. */
export class MailServer implements AsyncDisposable {
  readonly mails: Mail[] = [];
  readonly #server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      onData: (stream, session, done) => {
        const parts: Buffer[] = [];
        stream
          .on('data', (part: Buffer) => parts.push(part))
          .once('end', () => {
            const { mailFrom, rcptTo } = session.envelope;
            this.mails.push({
              from: mailFrom === false ? '' : mailFrom.address,
              to: rcptTo.map(({ address }) => address),
              text: Buffer.concat(parts).toString('utf8'),
            });
            done();
          });
      },
      ...options,
    });
    this.#server.on('error', () => {});
  }

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    await listen(server.#server.server);
    return server;
  }

  get url(): string {
    const { port } = this.#server.server.address() as AddressInfo;
    return `smtp://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
