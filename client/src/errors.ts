import type { ErrorBody } from './generated.ts';

/** The server has refused a call, or failed. `message` is what it says to a person. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Such as `ERR_GATEHOUSE_218`; empty where something in between has answered. */
  readonly code: string;
  /** Names the call in the server's log. */
  readonly operationId: string;
  /** Seconds after which another try makes sense, if the server named them. */
  readonly retryAfter: number | undefined;

  constructor(status: number, body: Partial<ErrorBody>, operationId: string, retryAfter: number | undefined) {
    super(body.msg ?? `The server answered ${status} without an error of its own. Check the URL.`);
    this.status = status;
    this.code = body.error_code ?? '';
    this.operationId = operationId;
    this.retryAfter = retryAfter;
  }

  /** The number at the end of the code, the same whatever word stands before it. */
  get number(): number | undefined {
    const digits = /_(\d+)$/.exec(this.code)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
}

/** No answer came: the server cannot be reached, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
