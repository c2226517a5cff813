import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { freePort } from '../../support/free-port.ts';
import { programFile } from '../../support/program-file.ts';
import { Terminal } from './terminal.ts';

const root = new URL('../../../', import.meta.url);

/** Blocks of shell commands of a page, in their order. */
export function shellBlocks(page: string): readonly string[] {
  return [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
}

/** A server of its own and a terminal beside it, for pages that a person follows by pasting their blocks. */
export class Walkthrough implements AsyncDisposable {
  /** Ports by those that the pages write, which may be taken on the machine that runs the tests. */
  readonly ports: ReadonlyMap<number, number>;
  readonly #server: ChildProcess;
  readonly #terminal: Terminal;
  readonly #token: string;

  private constructor(ports: ReadonlyMap<number, number>, server: ChildProcess, terminal: Terminal, token: string) {
    this.ports = ports;
    this.#server = server;
    this.#terminal = terminal;
    this.#token = token;
  }

  /** `folder` is empty; `environment` is that of the server. */
  static async start(
    folder: string,
    writtenPorts: readonly number[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Walkthrough> {
    const ports = new Map<number, number>();
    for (const written of [4040, 4443, 8443, ...writtenPorts]) ports.set(written, await freePort());
    const flags = [
      `--database-url=sqlite:${join(folder, 'gatehouse.db')}`,
      `--api-listen=127.0.0.1:${ports.get(4040)}`,
      `--https-listen=127.0.0.1:${ports.get(8443)}`,
      `--agent-listen=127.0.0.1:${ports.get(4443)}`,
      '--tcp-ports=1024-65535',
    ];
    await mkdir(join(folder, 'data'));
    await mkdir(join(folder, 'path'));
    // The folder is not that of the program, but has what a clone has for its reader.
    await symlink(fileURLToPath(new URL('tools', root)), join(folder, 'tools'));
    const npx = `#!/bin/sh\n[ "$1" = gatehouse ] || exec "$@"\nshift\nexec ${fileURLToPath(root)}bin/gatehouse "$@"\n`;
    await writeFile(join(folder, 'path/npx'), npx, { mode: 0o755 });
    const server = spawn(process.execPath, [programFile, 'serve', ...flags], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const token = await tokenFrom(server.stdout);
    const terminal = new Terminal(folder, {
      PATH: [join(folder, 'path'), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: folder,
      GATEHOUSE_SERVER: `localhost:${ports.get(4443)}`,
      NODE_PATH: fileURLToPath(new URL('node_modules', root)),
    });
    return new Walkthrough(ports, server, terminal, token);
  }

  /** Pastes a block with the ports and the token of this machine; resolves with what the terminal has shown. */
  paste(block: string): Promise<string> {
    const here = [...this.ports].reduce(
      (text, [written, port]) =>
        text.replaceAll(new RegExp(`(?:[:.]|listen\\(|addr: |http |--port )${written}\\b`, 'g'), (place) =>
          place.replace(String(written), String(port)),
        ),
      block,
    );
    return this.#terminal.paste(here.replace('TOKEN=…', `TOKEN=${this.#token}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#terminal[Symbol.asyncDispose]();
    this.#server.kill('SIGTERM');
    await once(this.#server, 'exit');
  }
}

/** Waits for the token, then keeps reading: a full pipe would block the server. */
function tokenFrom(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += String(chunk);
      const [, token] = /^ {2}(\w{27}_\w{43})$/m.exec(text) ?? [];
      if (token !== undefined) resolve(token);
    });
    output.on('end', () => {
      reject(new Error(`no token was printed: ${text}`));
    });
  });
}
