import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';

const suite = 'TLS_AES_128_GCM_SHA256';
const applicationData = 0x17;
const headBytes = 5;
const tagBytes = 16;
/** Bytes on the wire of a record that carries one byte. */
const tinyRecordBytes = headBytes + 1 + 1 + tagBytes;

/**
 * A TLS 1.3 connection whose records this program makes itself, one for each byte: OpenSSL would need a call for each, and
 * records that are made beforehand cost nothing while others measure. What the server sends is read by OpenSSL.
 */
export class TinyRecords {
  readonly answers: TLSSocket;
  readonly #key: Buffer;
  readonly #iv: Buffer;
  #sequence = 0n;

  private constructor(answers: TLSSocket, secret: Buffer) {
    this.answers = answers;
    this.#key = expandLabel(secret, 'key', 16);
    this.#iv = expandLabel(secret, 'iv', 12);
  }

  static async open(
    raw: Socket,
    options: { readonly servername: string; readonly alpn: string },
  ): Promise<TinyRecords> {
    const answers = connect({
      socket: bridgeTo(raw),
      servername: options.servername,
      ALPNProtocols: [options.alpn],
      minVersion: 'TLSv1.3',
      ciphers: suite,
      // The certificate is one of the benchmark's own.
      rejectUnauthorized: false,
    });
    let secret: Buffer | undefined;
    answers.on('keylog', (line: Buffer) => {
      const [, hex] = /^CLIENT_TRAFFIC_SECRET_0 \S+ (\S+)/.exec(line.toString()) ?? [];
      if (hex !== undefined) secret = Buffer.from(hex, 'hex');
    });
    answers.on('error', () => {});
    await once(answers, 'secureConnect');
    if (secret === undefined) throw new Error('OpenSSL did not tell the secret of this connection');
    return new TinyRecords(answers, secret);
  }

  /** Encrypts each byte as a record of its own. */
  encode(bytes: Buffer): Buffer {
    const out = Buffer.allocUnsafe(bytes.length * tinyRecordBytes);
    for (let at = 0; at < bytes.length; at++) this.#encodeOne(bytes[at] ?? 0, out, at * tinyRecordBytes);
    return out;
  }

  #encodeOne(byte: number, out: Buffer, start: number): void {
    out.set([applicationData, 3, 3, 0, tinyRecordBytes - headBytes], start);
    const nonce = Buffer.from(this.#iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.#sequence++, 4);
    const cipher = createCipheriv('aes-128-gcm', this.#key, nonce);
    cipher.setAAD(out.subarray(start, start + headBytes));
    cipher.update(Buffer.from([byte, applicationData])).copy(out, start + headBytes);
    cipher.final();
    cipher.getAuthTag().copy(out, start + headBytes + 2);
  }
}

/** Lends the socket to OpenSSL, so that others may write to it too. */
function bridgeTo(raw: Socket): Duplex {
  const bridge = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      raw.write(chunk, done);
    },
  });
  raw.on('data', (chunk: Buffer) => bridge.push(chunk));
  raw.on('end', () => bridge.push(null));
  raw.on('close', () => bridge.destroy());
  return bridge;
}

/** HKDF-Expand-Label of RFC 8446 for up to 32 bytes. */
function expandLabel(secret: Buffer, label: string, length: number): Buffer {
  const name = `tls13 ${label}`;
  const info = Buffer.concat([Buffer.from([0, length, name.length]), Buffer.from(name), Buffer.from([0, 1])]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, length);
}
