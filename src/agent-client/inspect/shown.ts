import { bodyText, maskBodyText, maskHeaders } from '../../lib/masking/mask-message.ts';
import { maskTarget } from '../../lib/masking/mask-text.ts';
import type { GrowingBuffer } from '../../lib/growing-buffer.ts';
import { headerOf, maxBodyBytes, requestLineOf } from './exchange.ts';
import type { Exchange, Head } from './exchange.ts';

/** A message as it is shown: secrets are masked. */
export interface ShownMessage {
  readonly line: string;
  /** Name, value, name, value, … */
  readonly headers: readonly string[];
  /** Undefined for a body that is no text. */
  readonly text: string | undefined;
  /** The part of the body that is kept, as it came. */
  readonly kept: Buffer;
  /** Bytes of the body that came. */
  readonly bytes: number;
}

export function showRequest({ request, requestKept, requestBytes }: Exchange): ShownMessage {
  const { method, target } = requestLineOf(request);
  const version = request.line.slice(method.length + target.length + 2);
  return show({ ...request, line: `${method} ${maskTarget(target)} ${version}` }, requestKept, requestBytes);
}

export function showAnswer({ reply, answerKept, answerBytes }: Exchange): ShownMessage | undefined {
  return reply && show(reply, answerKept, answerBytes);
}

function show(head: Head, body: GrowingBuffer, bytes: number): ShownMessage {
  const kept = body.bytes;
  const read = bodyText(kept, headerOf(head, 'content-encoding'), bytes > kept.length, maxBodyBytes);
  return {
    line: head.line,
    headers: maskHeaders(head.headers),
    text: read === undefined ? undefined : maskBodyText(read.text, headerOf(head, 'content-type')),
    kept,
    bytes,
  };
}
