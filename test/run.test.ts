import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('./run.ts', import.meta.url));

describe('npm test', { concurrency: true }, () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-runner-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs one test file with this text. */
  async function runFile(name: string, text: string | undefined, limitSeconds = 3, tries?: number) {
    const file = join(folder, `${name}.test.mjs`);
    if (text !== undefined)
      await writeFile(
        file,
        `import assert from "node:assert/strict"; import { after, test } from 'node:test';\n${text}`,
      );
    // With this variable, Node would treat the file as part of this run.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const child = spawn(process.execPath, [runner, file], {
      env: {
        ...environment,
        TEST_TIMEOUT_SECONDS: String(limitSeconds),
        TEST_POSTGRES_URL: 'postgres:not-asked',
        ...(tries === undefined ? {} : { TEST_TRIES: String(tries) }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    const [code] = await once(child, 'close');
    return { code, out, file };
  }

  test('ends with 0 where every test passes', async () => {
    const { code, out } = await runFile('good', `test('is quick', () => {});`, 60);
    assert.equal(code, 0, out);
  });

  test('says at the very end which tests failed, and why', async () => {
    const { code, out } = await runFile(
      'failing',
      `test('is wrong', () => { throw new Error('for this reason'); });
       test('is quick', () => {});`,
      60,
    );
    assert.equal(code, 1, out);
    const [, summary = ''] = out.split('All failures of this run:');
    assert.match(
      summary,
      /^\n+✖ \S+failing\.test\.mjs:2 › is wrong\nError: for this reason\n[^✖✔]*1 passed, 1 failed\n$/,
    );
  });

  test('says so too of a reason that cannot be copied from the process of the test', async () => {
    const { code, out } = await runFile(
      'odd',
      `test('is odd', () => { throw Object.assign(new Error('has a function'), { odd: () => {}, [Symbol.for('x')]: 1 }); });
       test('compares functions', () => { assert.deepEqual({ answer: () => 1 }, { answer: 2 }); });
       test('is quick', () => {});`,
      60,
    );
    assert.equal(code, 1, out);
    assert.match(out, /✔ is quick/);
    const [, summary = ''] = out.split('All failures of this run:');
    assert.match(summary, /› is odd\n[^✖]*has a function[^✖]*✖ [^✖]*› compares functions\n[^✖]*deep/);
  });

  test('names a test that never ends, runs those after it, and ends with 1', async () => {
    const { code, out } = await runFile(
      'waiting',
      `test('waits for nothing', () => new Promise(() => setInterval(() => {}, 1000)));
       test('comes after it', () => {});`,
      20,
    );
    assert.equal(code, 1, out);
    assert.match(out, /✖ waits for nothing [^]*test timed out after 20000ms/);
    assert.match(out, /✔ comes after it/);
  });

  test('names a hook that never ends', async () => {
    const { code, out, file } = await runFile(
      'hook',
      `after(() => new Promise(() => setInterval(() => {}, 1000)));
       test('is quick', () => {});`,
      20,
    );
    assert.equal(code, 1, out);
    assert.ok(out.includes(`✖ ${file}`) && out.includes('test timed out after 20000ms'), out);
  });

  test('names a file that cannot be loaded, one that is not there, and a test that throws after its end', async () => {
    const broken = await runFile('broken', `test('is never run', () => {}); throw new Error('at once');`, 60);
    assert.equal(broken.code, 1, broken.out);
    assert.match(broken.out, /All failures of this run:[^]*broken\.test\.mjs\nError: at once/);
    const late = await runFile(
      'late',
      `test('is over', () => { setTimeout(() => { throw new Error('late'); }); });`,
      60,
    );
    assert.equal(late.code, 1, late.out);
    assert.match(late.out, /All failures of this run:[^]*is over[^]*asynchronous activity after the test ended/);
    assert.equal((await runFile('none/of/them', undefined)).code, 1);
  });

  test('fails the test that an error without a catch comes from, at once, and no other', async () => {
    const { code, out } = await runFile(
      'uncaught',
      `import { createServer, connect } from 'node:net'; import { setTimeout as sleep } from 'node:timers/promises';
       const waits = () => new Promise(() => {});
       test('a timer', async () => { setTimeout(() => { throw new Error('of a timer'); }, 1); await waits(); });
       test('a promise', async () => { void sleep(1).then(() => { throw new Error('of a promise'); }); await waits(); });
       test('a client', async () => { connect(1, '127.0.0.1'); await waits(); });
       test('a tick', async () => { process.nextTick(() => { throw new Error('of a tick'); }); await waits(); });
       test('a server', async () => {
         const server = createServer((socket) => socket.unref().on('data', () => { throw new Error('of a server'); }));
         await new Promise((resolve) => server.unref().listen(0, '127.0.0.1', resolve));
         connect(server.address().port, '127.0.0.1').unref().write('x');
         await waits();
       });
       test('within', async (t) => {
         await sleep(1);
         await t.test('inner', async () => { await sleep(1); setTimeout(() => { throw new Error('of inner'); }); await waits(); });
       });
       let isCleared = false;
       test('has a hook', async () => { await sleep(1); after(() => { isCleared = true; }); });
       test('comes after it', () => { assert.ok(isCleared); });`,
      60,
    );
    assert.equal(code, 1, out);
    const [, summary = ''] = out.split('All failures of this run:');
    for (const [name, reason] of [
      ['a timer', 'Error: of a timer'],
      ['a promise', 'Error: of a promise'],
      ['a client', 'Error: connect ECONNREFUSED'],
      ['a tick', 'Error: of a tick'],
      ['a server', '[^✖]*Error: of a server'],
      ['inner', 'Error: of inner'],
    ] as const) {
      assert.ok(new RegExp(`› ${name}\n${reason}`).test(summary), `${name}: ${summary}`);
    }
    assert.ok(!out.includes('timed out'), out);
    assert.match(summary, /2 passed, 6 failed\n$/);
  });

  test('names a file whose process does not end after its tests, or never comes to them', async () => {
    const ended = await Promise.all([
      runFile('open', `test('leaves a timer behind', () => { setInterval(() => {}, 1000); });`),
      runFile(
        'busy',
        `test('never gives way', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`,
      ),
    ]);
    for (const { code, out, file } of ended) {
      assert.equal(code, 1, out);
      const [, summary = ''] = out.split('All failures of this run:');
      assert.match(summary, /Nothing has ended for 6 s/);
      assert.ok(summary.includes(file), out);
    }
  });

  /** The text of a test that fails the first time. */
  const firstTime = (name: string) => {
    const path = JSON.stringify(join(folder, `${name}-was-here`));
    return `import { existsSync, writeFileSync } from 'node:fs';
       const isFirst = !existsSync(${path}); writeFileSync(${path}, '');`;
  };

  test('runs again what has failed, alone, and says what failed at first', async () => {
    const text = `${firstTime('once')}
       test('is right', () => {});
       test('fails once', () => { if (isFirst) throw new Error('too early'); });`;
    const { code, out } = await runFile('once', text, 60, 2);
    assert.equal(code, 0, out);
    assert.match(out, /Once more, alone: \S+once\.test\.mjs\n/);
    const [, summary = ''] = out.split('Failed at first and passed when run again alone. Find out why:');
    assert.match(summary, /^\n+✖ \S+once\.test\.mjs:5 › fails once\nError: too early\n[^✖✔]*2 passed, 0 failed\n$/);
    assert.ok(!out.includes('All failures'), out);
  });

  test('runs again a file that broke off', async () => {
    const text = `${firstTime('exit')}
       test('comes first', () => {});
       test('ends the process once', () => { if (isFirst) process.exit(7); });
       test('comes last', () => {});`;
    const { code, out } = await runFile('exit', text, 60, 2);
    assert.equal(code, 0, out);
    assert.match(out, /Find out why:\n+✖ The process of these files ended with 7: [^✖✔]*3 passed, 0 failed\n$/);
  });

  test('fails if something fails the second time too, be it something else', async () => {
    const always = await runFile('always', `test('is wrong', () => { throw new Error('as ever'); });`, 60, 2);
    assert.equal(always.code, 1, always.out);
    assert.match(
      always.out,
      /All failures of this run:\n+✖ \S+ › is wrong\nError: as ever\n[^✖✔]*0 passed, 1 failed\n$/,
    );
    const text = `${firstTime('other')}
       test('is wrong first', () => { assert.ok(!isFirst); });
       test('is wrong then', () => { assert.ok(isFirst); });`;
    const other = await runFile('other', text, 60, 2);
    assert.equal(other.code, 1, other.out);
    assert.match(other.out, /All failures of this run:[^]*is wrong first[^]*1 passed, 1 failed\n$/);
    const gone = `${firstTime('gone')}
       if (isFirst) test('is wrong', () => { assert.fail(); });`;
    assert.equal((await runFile('gone', gone, 60, 2)).code, 1);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`ends all that it has started at a ${signal}`, async () => {
      const file = join(folder, `${signal}.test.mjs`);
      const listen = 'createServer().listen(0, "127.0.0.1", function () { console.log("port", this.address().port); })';
      const stubborn = `process.on("SIGINT", () => {}); require("net").${listen}`;
      await writeFile(
        file,
        `import { spawn } from 'node:child_process'; import { createServer } from 'node:net'; import { test } from 'node:test';
         test('goes on', () => {
           ${listen};
           spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: ['ignore', 'inherit', 'inherit'] });
           console.log('port', new URL(process.env.TEST_POSTGRES_URL).port);
           return new Promise(() => {});
         });`,
      );
      const { NODE_TEST_CONTEXT: _, TEST_POSTGRES_URL: _url, ...environment } = process.env;
      const child = spawn(process.execPath, [runner, file], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
      const exited = once(child, 'exit');
      let out = '';
      const ports = () => [...out.matchAll(/^port (\d+)$/gm)].map(([, port]) => Number(port));
      child.stdout.on('data', (chunk) => {
        out += String(chunk);
        if (ports().length === 3) child.kill(signal);
      });
      assert.deepEqual(await exited, [1, null], out);
      assert.equal(ports().length, 3, out);
      for (const port of ports()) {
        const refused = once(connect(port, '127.0.0.1'), 'connect');
        await assert.rejects(refused, { code: 'ECONNREFUSED' });
      }
    });
  }
});
