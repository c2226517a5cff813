import { bodyText, maskBodySteps, maskHeadersSteps } from '../../lib/masking/mask-message.ts';
import { maskTargetSteps } from '../../lib/masking/mask-text.ts';
import { finishInTurns } from '../../lib/steps.ts';
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

/** Masks in slices: visitors do not wait for a long message. */
export async function showRequest({ request, requestKept, requestBytes }: Exchange): Promise<ShownMessage> {
  const { method, target } = requestLineOf(request);
  const version = request.line.slice(method.length + target.length + 2);
  const masked = await finishInTurns(maskTargetSteps(target));
  return show({ ...request, line: `${method} ${masked} ${version}` }, requestKept, requestBytes);
}

export async function showAnswer({ reply, answerKept, answerBytes }: Exchange): Promise<ShownMessage | undefined> {
  return reply && show(reply, answerKept, answerBytes);
}

async function show(head: Head, body: GrowingBuffer, bytes: number): Promise<ShownMessage> {
  const kept = body.bytes;
  const read = bodyText(kept, headerOf(head, 'content-encoding'), bytes > kept.length, maxBodyBytes);
  return {
    line: head.line,
    headers: await finishInTurns(maskHeadersSteps(head.headers)),
    text: read && (await finishInTurns(maskBodySteps(read.text, headerOf(head, 'content-type')))),
    kept,
    bytes,
  };
}
