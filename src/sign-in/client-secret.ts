import type { ClientAuth } from 'openid-client';

import { oneLine } from '../lib/terminal-text.ts';

/** Characters of a provider's own words that are kept. */
const longestWords = 200;

/** Sends the secret in a header. What a form leaves as it is stays so: some providers do not decode it. */
export function secretInHeader(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${inForm(id)}:${inForm(secret)}`).toString('base64')}`);
  };
}

/** True: the provider does not know the client, or not by the way in which the secret came. */
export function refusesClient(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  const { error: word, code } = wordsOf(cause);
  return word === 'invalid_client' || code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE';
}

/** The message of a fault, with the words of the provider, in one line. */
export function messageOf(fault: unknown): string {
  const message = fault instanceof Error ? fault.message : String(fault);
  const { error, error_description: description } = wordsOf(fault);
  const words = [error, description].filter((each) => typeof each === 'string');
  return [message, ...words.map((each) => oneLine(each.slice(0, longestWords)))].join(': ');
}

interface Words {
  readonly error?: unknown;
  readonly error_description?: unknown;
  readonly code?: unknown;
}

function wordsOf(fault: unknown): Words {
  // Errors of the library have these fields beside their own.
  return fault instanceof Error ? (fault as Words) : {};
}

function inForm(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
