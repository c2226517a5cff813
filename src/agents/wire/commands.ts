import { FieldReader } from './fields.ts';
import { streamTypes } from './stream-types.ts';

const maxErrorText = 16 * 1024;
const codeLine = /^ERR_(?:[A-Z0-9]+_)*([0-9]+)$/;

/** Commands that the server gives to an agent, and that the agent answers. */
export type AgentCommand = 'stop' | 'restart' | 'update';

/** Outcome of a command. */
export type CommandAnswer =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'unsupported'; readonly reason: string }
  | { readonly outcome: 'unanswered' };

/** The type and the body of a command; agents written in Rust refuse a body with a field missing. */
export function commandMessage(command: AgentCommand): { readonly type: number; readonly body: object } {
  const body = command === 'update' ? { Version: '', PermitMajorVersion: false } : {};
  return { type: streamTypes[command], body };
}

export interface TunnelStop {
  readonly tunnelId: string;
  readonly message: string;
  /** With its prefix. */
  readonly errorCode: string;
}

export function stopTunnelMessage({ tunnelId, message, errorCode }: TunnelStop): object {
  return { Id: tunnelId, Message: message, ErrorCode: errorCode };
}

/** The other half of `stopTunnelMessage`, for agents. Throws a `MessageFault`. */
export function readStopTunnel(message: Readonly<Record<string, unknown>>): TunnelStop {
  const fields = new FieldReader(message);
  return {
    tunnelId: fields.text('Id', 128),
    message: fields.text('Message', maxErrorText),
    errorCode: fields.text('ErrorCode', maxErrorText),
  };
}

/** The error in the answer to a message, or undefined if it was carried out. Throws a `MessageFault`. */
export function readError(response: Readonly<Record<string, unknown>>): string | undefined {
  return new FieldReader(response).text('Error', maxErrorText) || undefined;
}

/** Agents take a line that starts with a prefix they know as the code, and the other lines as the text. */
export function errorResponse(text: string, code: string): object {
  return { Error: `${text}\n\n${code}` };
}

export interface ErrorText {
  readonly text: string;
  /** Number of the error; undefined where the server gave none. */
  readonly code: number | undefined;
}

/** The other half of `errorResponse`: takes the text of an error apart. */
export function parseErrorText(error: string): ErrorText {
  const lines = error
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const code = lines.map((line) => codeLine.exec(line)?.[1]).find((number) => number !== undefined);
  const text = lines.filter((line) => !codeLine.test(line)).join(' ');
  return { text, code: code === undefined ? undefined : Number(code) };
}
