import type { KeptLogins } from '../../sign-in/kept-logins.ts';

type Method = keyof KeptLogins;

/** A method of the kept logins, by name and arguments. */
type AskedLogin = {
  [Name in Method]: readonly [name: Name, ...Parameters<KeptLogins[Name]>];
}[Method];

/** A call of a worker to the kept logins of its parent, which has the database. */
export interface LoginCall {
  readonly type: 'login';
  readonly call: number;
  readonly asked: AskedLogin;
}

export interface LoginReply {
  readonly call: number;
  readonly value?: Awaited<ReturnType<KeptLogins[Method]>> | undefined;
  /** Error message, where the call was rejected. */
  readonly fault?: string;
}

/** Carries out a call in the parent. */
export async function answerLoginCall(logins: KeptLogins, { call, asked }: LoginCall): Promise<LoginReply> {
  const [name, ...given] = asked;
  try {
    // The worker has called the method of this name with them.
    return { call, value: await Reflect.apply(logins[name], logins, given) };
  } catch (error) {
    return { call, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** The kept logins as a worker sees them. */
export class RemoteLogins implements KeptLogins {
  readonly #send: (call: LoginCall) => void;
  readonly #waiting = new Map<number, (reply: LoginReply) => void>();
  #calls = 0;

  constructor(send: (call: LoginCall) => void) {
    this.#send = send;
  }

  readonly keep: KeptLogins['keep'] = (...given) => this.#ask(['keep', ...given]);
  readonly claim: KeptLogins['claim'] = (...given) => this.#ask(['claim', ...given]);
  readonly release: KeptLogins['release'] = (...given) => this.#ask(['release', ...given]);
  readonly leave: KeptLogins['leave'] = (...given) => this.#ask(['leave', ...given]);

  answered(reply: LoginReply): void {
    this.#waiting.get(reply.call)?.(reply);
    this.#waiting.delete(reply.call);
  }

  /** Without a parent the process ends, and with it the call. */
  #ask<Value>(asked: AskedLogin): Promise<Value> {
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, ({ value, fault }) => {
        if (fault !== undefined) reject(new Error(fault));
        // The parent answers with what the same method has returned there.
        else resolve(value as Value);
      });
      this.#send({ type: 'login', call, asked });
    });
  }
}
