import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';

import { makePair } from './certificate-pair.ts';
import { scratchFolder } from './scratch.ts';

export interface ReceivedEvent {
  readonly id: string;
  readonly isSigned: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of an event
  readonly body: any;
}

const receiverSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export const receiverPair = makePair(
  'receiver',
  '-subj',
  '/CN=localhost',
  '-addext',
  'subjectAltName=DNS:localhost,IP:127.0.0.1',
);
/** File with the authority of every receiver, for `upstreamCa`. */
export const receiverCa = join(scratchFolder(), 'receiver.pem');
writeFileSync(receiverCa, receiverPair.certificate_pem);

/** Answers an event. The usual answer is 204. */
export type AnswerEvent = (event: ReceivedEvent, response: ServerResponse) => void;

/** An HTTPS server that takes events. */
export class EventReceiver implements AsyncDisposable {
  readonly received: ReceivedEvent[] = [];
  readonly #server = createServer({ key: receiverPair.private_key_pem, cert: receiverPair.certificate_pem });
  answer: AnswerEvent;

  private constructor(answer: AnswerEvent) {
    this.answer = answer;
    this.#server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => parts.push(part))
        .once('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          const event = {
            id: String(request.headers['webhook-id']),
            isSigned: isSigned(request.headers, text),
            body: JSON.parse(text),
          };
          this.received.push(event);
          this.answer(event, response);
        });
    });
  }

  static async start(answer: AnswerEvent = accept): Promise<EventReceiver> {
    const receiver = new EventReceiver(answer);
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `https://localhost:${port}/hook`;
  }

  /** Body of a destination that leads here. */
  get destination() {
    return { format: 'json', target: { webhook: { url: this.url, secret: receiverSecret } } };
  }

  /** Descriptions of the resources in the events, in the order in which they came. */
  get descriptions(): readonly string[] {
    return this.received.map(({ body }) => String(body.object.description));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function accept(_event: ReceivedEvent, response: ServerResponse): void {
  response.writeHead(204).end();
}

/** As receivers check it: with code of its own. */
function isSigned(headers: NodeJS.Dict<string | string[]>, body: string): boolean {
  const [id, time, signature] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]));
  const key = Buffer.from(receiverSecret.slice('whsec_'.length), 'base64');
  return signature === `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`;
}
