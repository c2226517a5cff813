import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { freePort } from '../../support/free-port.ts';
import { programWords } from '../../support/program-file.ts';
import { ServicePostgres } from './service-postgres.ts';
import { Terminal } from './terminal.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Ports that the pages write, but for that of PostgreSQL. They may be taken on the machine that runs the tests. */
const writtenPorts = [4040, 4141, 4142, 4443, 8443, 9000, 9001, 9002, 9100];
const postgresPort = 5432;

/** Reports each command that fails, but for those that a signal has ended. */
const reportFailures = `trap '[ $? -gt 128 ] || echo "FAILED: $BASH_COMMAND"' ERR`;

/**
 * A folder like a clone with everything installed, the terminal in which its server runs, and others, for pages that a person
 * follows by pasting their blocks. Programs that would change the machine are replaced: npm and apt-get install nothing, and
 * the PostgreSQL of the machine is one of the tests. So is the launcher, which has tests of its own.
 */
export class Walkthrough implements AsyncDisposable {
  /** Ports of this machine by those that the pages write. */
  readonly ports: ReadonlyMap<number, number>;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #postgres: ServicePostgres;
  readonly #terminals: Terminal[] = [];
  readonly #server: Terminal;
  #token = '';

  private constructor(folder: string, ports: ReadonlyMap<number, number>, postgres: ServicePostgres) {
    this.ports = ports;
    this.#folder = folder;
    this.#postgres = postgres;
    this.#environment = {
      PATH: [join(folder, 'path'), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: folder,
      NODE_PATH: join(root, 'node_modules'),
      GATEHOUSE_SERVER: `127.0.0.1:${ports.get(4443)}`,
      GATEHOUSE_WORKERS: 'off',
      // Some hundred programs of Node are started.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    };
    this.#server = this.#open({
      GATEHOUSE_API_LISTEN: `127.0.0.1:${ports.get(4040)}`,
      GATEHOUSE_HTTPS_LISTEN: `127.0.0.1:${ports.get(8443)}`,
      GATEHOUSE_AGENT_LISTEN: `127.0.0.1:${ports.get(4443)}`,
    });
  }

  /** `folder` is empty. */
  static async start(folder: string): Promise<Walkthrough> {
    const programs = join(folder, 'path');
    await mkdir(programs);
    await mkdir(join(folder, 'bin'));
    await symlink(join(root, 'tools'), join(folder, 'tools'));
    const writeProgram = (name: string, script: string, place = programs) =>
      writeFile(join(place, name), `#!/bin/sh\n${script}`, { mode: 0o755 });
    const program = programWords.map((word) => `'${word}'`).join(' ');
    await writeProgram('gatehouse', `exec ${program} "$@"\n`, join(folder, 'bin'));
    await writeProgram('npm', '[ "$1" = start ] || exit 0\nexec bin/gatehouse serve\n');
    await writeProgram('npx', '[ "$1" = gatehouse ] || exec "$@"\nshift\nexec bin/gatehouse "$@"\n');
    await writeProgram('apt-get', '');
    const postgres = await ServicePostgres.start(writeProgram);
    const ports = new Map([[postgresPort, postgres.port]]);
    for (const written of writtenPorts) ports.set(written, await freePort());
    return new Walkthrough(folder, ports, postgres);
  }

  /** Pastes a block that starts the server into its terminal, where one that runs is stopped before. */
  async startServer(block: string): Promise<void> {
    const from = this.#server.output.length;
    this.#server.type(`\u0003\n${this.#here(block)}`);
    await this.#server.shows('Database: ', from);
    this.#token ||= await this.#firstToken();
  }

  /** Opens another terminal; what this returns pastes into it, and resolves with what the terminal has shown then. */
  async openTerminal(): Promise<(block: string) => Promise<string>> {
    const terminal = this.#open({});
    await terminal.paste(reportFailures);
    return (block) => {
      const signIn = { 'Token of an API key: ': `${this.#token}\n`, 'Signed in to': '' };
      return terminal.paste(this.#here(block), block.includes('gatehouse login') ? signIn : {});
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals.toReversed()) await terminal[Symbol.asyncDispose]();
    await this.#postgres[Symbol.asyncDispose]();
  }

  #open(more: Readonly<Record<string, string>>): Terminal {
    const terminal = new Terminal(this.#folder, { ...this.#environment, ...more });
    this.#terminals.push(terminal);
    return terminal;
  }

  async #firstToken(): Promise<string> {
    await this.#server.shows('login --url');
    const [, token] = /^ {2}(\w{27}_\w{43})$/m.exec(this.#server.output) ?? [];
    if (token === undefined) throw new Error(`no token was printed: ${this.#server.output}`);
    return token;
  }

  /** The block with the ports of this machine. */
  #here(block: string): string {
    return [...this.ports].reduce(
      (shown, [written, port]) =>
        shown.replaceAll(new RegExp(`(?:[:.]|listen\\(|addr: |http |--port )${written}\\b`, 'g'), (place) =>
          place.replace(String(written), String(port)),
        ),
      block,
    );
  }
}
