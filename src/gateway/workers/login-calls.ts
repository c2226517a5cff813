import type { KeptLogins } from '../../sign-in/kept-logins.ts';

type Method = keyof KeptLogins;

/** A call of a worker to the kept logins of its parent, which has the database. */
export type LoginCall = {
  [Name in Method]: {
    readonly type: 'login';
    readonly call: number;
    readonly method: Name;
    readonly parameters: Parameters<KeptLogins[Name]>;
  };
}[Method];

export interface LoginReply {
  readonly call: number;
  readonly value?: Awaited<ReturnType<KeptLogins[Method]>> | undefined;
  /** Error message, where the call was rejected. */
  readonly fault?: string;
}

/** Carries out a call in the parent. */
export async function answerLoginCall(logins: KeptLogins, asked: LoginCall): Promise<LoginReply> {
  const { call } = asked;
  try {
    return { call, value: await carryOut(logins, asked) };
  } catch (error) {
    return { call, fault: error instanceof Error ? error.message : String(error) };
  }
}

function carryOut(logins: KeptLogins, { method, parameters }: LoginCall): ReturnType<KeptLogins[Method]> {
  if (method === 'keep') return logins.keep(...parameters);
  if (method === 'leave') return logins.leave(...parameters);
  return method === 'claim' ? logins.claim(...parameters) : logins.release(...parameters);
}

/** The kept logins as a worker sees them. */
export class RemoteLogins implements KeptLogins {
  readonly #send: (call: LoginCall) => void;
  readonly #waiting = new Map<number, (reply: LoginReply) => void>();
  #calls = 0;

  constructor(send: (call: LoginCall) => void) {
    this.#send = send;
  }

  keep(...parameters: Parameters<KeptLogins['keep']>): Promise<void> {
    return this.#ask((call) => ({ type: 'login', call, method: 'keep', parameters }));
  }

  claim(...parameters: Parameters<KeptLogins['claim']>): ReturnType<KeptLogins['claim']> {
    return this.#ask((call) => ({ type: 'login', call, method: 'claim', parameters }));
  }

  release(...parameters: Parameters<KeptLogins['release']>): Promise<void> {
    return this.#ask((call) => ({ type: 'login', call, method: 'release', parameters }));
  }

  leave(...parameters: Parameters<KeptLogins['leave']>): Promise<void> {
    return this.#ask((call) => ({ type: 'login', call, method: 'leave', parameters }));
  }

  answered(reply: LoginReply): void {
    this.#waiting.get(reply.call)?.(reply);
    this.#waiting.delete(reply.call);
  }

  /** Without a parent the process ends, and with it the call. */
  #ask<Value>(toCall: (call: number) => LoginCall): Promise<Value> {
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, ({ value, fault }) => {
        if (fault !== undefined) reject(new Error(fault));
        // The parent answers with what the same method has returned there.
        else resolve(value as Value);
      });
      this.#send(toCall(call));
    });
  }
}
