/** Exit codes of commands that talk to a server; `docs/command-line.md` lists them. */
export const exitCodes = {
  done: 0,
  /** A wrong call, or a fault in a file. */
  fault: 1,
  /** Code of a command that has found what it looks for: `plan --exit-code` changes, `check-ip --exit-code` and `policy check --exit-code` a refusal, `doctor` a fault. */
  found: 2,
  /** The server has refused, and nothing was changed. */
  refused: 3,
  /** No answer came. */
  unreachable: 4,
  /** The server has failed (5xx); what was asked for may or may not be done. */
  failed: 5,
  /** `import` could not take everything. */
  incomplete: 6,
} as const;

export const exitCodeText =
  'Exit codes: 0 done, 1 wrong command, 2 found (--exit-code), 3 refused by the server, 4 no answer, 5 the server failed.';

/** Ends a command with lines for standard error and a code. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.fault) {
    super(message);
    this.exitCode = exitCode;
  }
}
