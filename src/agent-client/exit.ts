import type { AgentEnd } from './agent.ts';
import { kindOf } from './refusals.ts';
import type { RefusalKind, Refused } from './refusals.ts';

/** How the program ends: the lines for the operator, and a code for scripts. */
export interface Exit {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Codes of the process; 1 is for commands that cannot be run as they were given. */
export const exitCodes = {
  stopped: 0,
  token: 3,
  address: 4,
  name: 5,
  option: 6,
  tunnelStopped: 7,
  wrongServer: 8,
  other: 9,
  /** Told to end at once, as shells count an interrupt. */
  interrupted: 130,
} as const;

const remedies: Readonly<Record<RefusalKind, string>> = {
  token: 'Create a credential (POST /credentials) and set its token as GATEHOUSE_AUTHTOKEN or in the settings file.',
  address: 'Nothing on this machine changes that: the restriction is one of the account on the server.',
  name: 'Ask for another with --domain, --remote-addr or --label, or leave it out; --pooling shares one that is online.',
  option: 'Call the command again without that option, or with another value.',
  other: 'The documentation of the server lists its errors by number (docs/errors.md).',
};

export function toExit(end: AgentEnd): Exit {
  switch (end.kind) {
    case 'stopped':
      return { code: exitCodes.stopped, lines: [end.by === 'server' ? 'Stopped by the server.' : 'Stopped.'] };
    case 'refused':
      return refusedExit(end.refusal);
    case 'tunnel stopped':
      return {
        code: exitCodes.tunnelStopped,
        lines: [`The server has stopped this tunnel: ${end.text}${numbered(end.code)}`],
      };
    default:
      return {
        code: exitCodes.wrongServer,
        lines: [
          `Not connected: ${end.reason}.`,
          'Check --server (GATEHOUSE_AGENT_LISTEN of the service), and give the fingerprint of its authority (--fingerprint), or the file of GET /local_ca.pem (--ca).',
        ],
      };
  }
}

function refusedExit(refusal: Refused): Exit {
  const kind = kindOf(refusal);
  return {
    code: exitCodes[kind],
    lines: [`The server refuses: ${refusal.message}${numbered(refusal.code)}`, remedies[kind]],
  };
}

function numbered(code: number | undefined): string {
  return code === undefined ? '' : ` (error ${code})`;
}
