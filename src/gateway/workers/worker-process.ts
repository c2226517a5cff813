import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { childEnvironment } from '../../lib/child-environment.ts';
import type { KeptLogins } from '../../sign-in/kept-logins.ts';
import type { GatewayLog } from '../engine.ts';
import type { HealthNote } from '../health/health-board.ts';
import type { WorkerLoad } from './balance.ts';
import { answerLoginCall } from './login-calls.ts';
import { linkDescriptor } from './messages.ts';
import type { Events, FromWorker, Question, Reply, Request, Task, WorkerStart } from './messages.ts';

/** The worker ended before it could answer. */
export class WorkerGone extends Error {
  override readonly name = 'WorkerGone';
}

export interface WorkerSettings {
  readonly start: WorkerStart;
  readonly log: GatewayLog;
  readonly observed: (worker: WorkerProcess, events: Events) => void;
  readonly noted: (notes: readonly HealthNote[]) => void;
  readonly logins: KeptLogins;
  readonly questioned: (worker: WorkerProcess, question: Question) => void;
  /** Given this process's end of the link to the worker. */
  readonly linked: (worker: WorkerProcess, socket: Duplex) => void;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

const entry = fileURLToPath(new URL('./worker-main.ts', import.meta.url));
/** Limit for one task; a worker that takes longer is killed. */
const replyLimitMs = 60_000;

let started = 0;

/** One child process that carries traffic. */
export class WorkerProcess {
  readonly number = ++started;
  /** Resolves with the reason when the process has ended. */
  readonly gone: Promise<string>;
  /** As it has reported last; undefined before it does. */
  load: WorkerLoad | undefined;
  readonly #settings: WorkerSettings;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #up = Promise.withResolvers<void>();
  #requests = 0;
  #end: WorkerGone | undefined;

  /** Resolves when the worker can be given updates. */
  static async start(settings: WorkerSettings): Promise<WorkerProcess> {
    const worker = new WorkerProcess(settings);
    const overdue = setTimeout(() => {
      worker.kill();
    }, replyLimitMs);
    try {
      await worker.#up.promise;
      await worker.ask({ task: 'start', ...settings.start });
    } catch (error) {
      worker.kill();
      throw error;
    } finally {
      clearTimeout(overdue);
    }
    return worker;
  }

  private constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#child = fork(entry, [], {
      serialization: 'advanced',
      env: childEnvironment(),
      // As `bin/gatehouse` has it, and nothing else that the program was started with.
      execArgv: ['--max-semi-space-size=16'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    });
    const link = this.#child.stdio[linkDescriptor];
    // A process that cannot be started has none.
    if (link instanceof Duplex) settings.linked(this, link);
    // Only worker-main.ts writes to this channel.
    this.#child.on('message', (message) => {
      this.#receive(message as FromWorker);
    });
    const { promise, resolve } = Promise.withResolvers<string>();
    this.gone = promise;
    const end = (why: string): void => {
      this.#fail(new WorkerGone(`gateway worker ${this.number} is gone: ${why}`));
      resolve(why);
    };
    this.#child.on('error', (error) => {
      if (this.#child.pid === undefined) end(error.message);
    });
    this.#child.on('exit', (code, signal) => {
      end(signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Rejects with the worker's own message if it cannot do the task, with `WorkerGone` if it dies. */
  async ask(task: Task, limitMs = replyLimitMs): Promise<Reply> {
    if (this.#end !== undefined) throw this.#end;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const number = ++this.#requests;
    this.#waiting.set(number, { resolve, reject });
    const overdue = setTimeout(() => {
      this.kill();
    }, limitMs);
    const request: Request = { ...task, number };
    this.#child.send(request, (error) => {
      if (error !== null) this.kill();
    });
    try {
      return await promise;
    } finally {
      clearTimeout(overdue);
      this.#waiting.delete(number);
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'up':
        this.#up.resolve();
        break;
      case 'reply':
        this.#settle(message);
        break;
      case 'events':
        this.#settings.observed(this, message);
        break;
      case 'health':
        this.#settings.noted(message.notes);
        break;
      case 'question':
        this.#settings.questioned(this, message);
        break;
      case 'login':
        void answerLoginCall(this.#settings.logins, message)
          .then((reply) => this.ask({ task: 'loginReply', reply }))
          // A worker that is gone waits for nothing.
          .catch(() => {});
        break;
      case 'load':
        this.load = message;
        break;
      case 'log':
        this.#settings.log[message.level]({ ...message.fields, worker: this.number }, message.message);
        break;
    }
  }

  #settle(reply: Reply): void {
    const { number, fault } = reply;
    const waiting = this.#waiting.get(number);
    if (fault === undefined) waiting?.resolve(reply);
    else waiting?.reject(new Error(fault));
  }

  #fail(error: WorkerGone): void {
    this.#end = error;
    this.#up.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}
