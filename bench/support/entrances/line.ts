import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import type { Attack } from './attacks.ts';
import type { AttackOrder } from './messages.ts';
import { TinyRecords } from './tiny-records.ts';

/** Source of attackers, apart from that of neighbours. */
const attackersAddress = '127.0.0.2';
const reconnectMs = 100;
/** Bytes that the system has not taken; more are not written. */
const maxWaiting = 65_536;

/** One connection that attacks, opened again when the server closes it. */
export class Line {
  closed = 0;
  readonly #order: AttackOrder;
  readonly #newAttack: () => Attack;
  #attack: Attack;
  #socket: Socket | undefined;
  #encode: (bytes: Buffer) => Buffer = (bytes) => bytes;
  /** Bytes as they go over the wire. */
  #prepared: Buffer[] = [];
  #preparedBytes = 0;
  #earlierBytes = 0;

  constructor(order: AttackOrder, newAttack: () => Attack) {
    this.#order = order;
    this.#newAttack = newAttack;
    this.#attack = newAttack();
  }

  /** Bytes that the system has taken. */
  get sentBytes(): number {
    return this.#earlierBytes + taken(this.#socket);
  }

  async open(): Promise<void> {
    const { port, alpn, pieces, target } = this.#order;
    const raw = connect({ host: '127.0.0.1', port, localAddress: attackersAddress, noDelay: true });
    raw.on('error', () => {});
    await once(raw, 'connect');
    let answers = raw;
    let socket = raw;
    if (alpn !== undefined && pieces === 'records') {
      const records = await TinyRecords.open(raw, { servername: target.host, alpn });
      this.#encode = (bytes) => records.encode(bytes);
      answers = records.answers;
    } else if (alpn !== undefined) {
      const options = { servername: target.host, ALPNProtocols: [alpn], rejectUnauthorized: false };
      socket = answers = connectTls({ socket: raw, ...options }).on('error', () => {});
      await once(answers, 'secureConnect');
    }
    answers.on('data', (bytes: Buffer) => this.#attack.received(bytes));
    answers.once('close', () => this.#reopen());
    if (this.#attack.opened !== undefined) {
      socket.write(this.#encode(this.#attack.next() ?? Buffer.alloc(0)));
      await this.#attack.opened;
    }
    this.#socket = socket;
  }

  /** Makes bytes beforehand, as far as the attack goes without an answer. */
  prepare(bytes: number): void {
    while (this.#preparedBytes < bytes) {
      const next = this.#attack.next();
      if (next === undefined) return;
      const encoded = this.#encode(next);
      this.#prepared.push(encoded);
      this.#preparedBytes += encoded.length;
    }
  }

  /** Sends up to so many bytes; returns how many it was. */
  send(bytes: number): number {
    const socket = this.#socket;
    if (socket === undefined || socket.writableLength > maxWaiting) return 0;
    this.prepare(bytes);
    let sent = 0;
    while (sent < bytes) {
      const [first] = this.#prepared;
      if (first === undefined) break;
      const part = first.subarray(0, bytes - sent);
      if (part.length === first.length) this.#prepared.shift();
      else this.#prepared[0] = first.subarray(part.length);
      this.#preparedBytes -= part.length;
      sent += part.length;
      if (this.#order.pieces === 'segments')
        for (let at = 0; at < part.length; at++) socket.write(part.subarray(at, at + 1));
      else socket.write(part);
    }
    return sent;
  }

  #reopen(): void {
    this.#earlierBytes += taken(this.#socket);
    this.#socket = undefined;
    this.closed += 1;
    this.#attack = this.#newAttack();
    this.#prepared = [];
    this.#preparedBytes = 0;
    setTimeout(() => void this.open().catch(() => {}), reconnectMs);
  }
}

function taken(socket: Socket | undefined): number {
  return socket === undefined ? 0 : Math.max(0, socket.bytesWritten - socket.writableLength);
}
