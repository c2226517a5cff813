import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Operator } from '../support/operator.ts';
import { scratchFolder } from '../support/scratch.ts';
import { Visitor } from '../support/visitor.ts';
import { until } from './gateway/support/until.ts';
import { readPages } from './support/page-blocks.ts';
import { Walkthrough } from './support/walkthrough.ts';

type Paste = (block: string) => Promise<string>;

/** Pages expect the command on the path, which the README shows for its own terminal. */
async function openTerminal(walkthrough: Walkthrough, page: string): Promise<Paste> {
  const paste = await walkthrough.openTerminal();
  if (page !== 'README.md') await paste('export PATH="$PWD/bin:$PATH"');
  return paste;
}

/** What somebody does beside a page before a block of it that begins so, and after it. */
interface Aside {
  readonly page: string;
  readonly begins: string;
  readonly before?: (paste: Paste, walkthrough: Walkthrough) => Promise<void>;
  readonly after?: (walkthrough: Walkthrough) => Promise<void>;
}

let ada: Visitor;
const address = ({ ports }: Walkthrough) => `https://app.localhost:${ports.get(8443)}/`;

const asides: readonly Aside[] = [
  {
    page: 'docs/sign-in.md',
    begins: 'gatehouse app sessions list',
    async before(paste, walkthrough) {
      const visitor = () => new Visitor({ 'app.localhost': walkthrough.ports.get(8443)! });
      ada = visitor();
      const seen = await ada.signIn(address(walkthrough), 'ada');
      assert.equal(seen.status, 200, seen.text);
      assert.match(seen.text, /"gatehouse-user-email": "ada@example\.com"/);
      const refused = await visitor().signIn(address(walkthrough), 'eve');
      assert.equal(refused.status, 403);
      assert.match(refused.text, /carriers/);
      // A gateway tells of sessions a moment later.
      await until(async () => (await paste('gatehouse app sessions list')).includes('as_'), 'the session is listed');
    },
    async after(walkthrough) {
      assert.equal((await ada.ask(address(walkthrough))).status, 302, 'her session has ended');
    },
  },
  {
    page: 'docs/operators-sign-in.md',
    begins: 'export GATEHOUSE_PUBLIC_URL',
    async before(_paste, { ports }) {
      const metadata = `http://127.0.0.1:${ports.get(9002)}/.well-known/openid-configuration`;
      await until(async () => (await fetch(metadata).catch(() => undefined))?.ok === true, 'the provider answers');
    },
    async after({ ports }) {
      const url = `http://127.0.0.1:${ports.get(4040)}`;
      const signIn = (name: string) => new Operator({ url }, {}, url).signIn(name);
      assert.deepEqual([(await signIn('ada')).status, (await signIn('eve')).status], [201, 403]);
    },
  },
];

/** What the terminal shows of a page, at least. */
const promises: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [
    /^ *"host": "shop\.localhost:\d+"/m,
    /^ *"host": "library\.localhost:\d+"/m,
    /^ *"x-added": "by the gateway"/m,
    /"error_code":"ERR_GATEHOUSE_3203"/,
    /127\.0\.0\.2 is refused/,
    /^\+ tunnel_group_backends shop$/m,
    /^Applied: 1 created, 0 changed, 0 deleted\.$/m,
    /^No changes\.$/m,
  ],
  'docs/files.md': [/^No changes\.$/m],
  'docs/operating.md': [
    /^hello from the upstream$/m,
    /"error_code":"ERR_GATEHOUSE_3203".*\n[^]*hello from the upstream/,
    /^200$[^]*^401$/m,
    /^HTTP\/1\.1 503 /m,
    /^retry-after: /im,
    /\boffices\b/,
    /previous_token_expires_at|PREVIOUS TOKEN/i,
  ],
  'docs/sign-in.md': [/"status_code":401/, /in a browser: https:\/\/app\.localhost:\d+\/\.gatehouse\/sign-in\?to=%2F"/],
  'docs/users.md': [/#invite=/],
};

test('every block of the pages, pasted one after another, each page in a terminal of its own, does what it promises', async () => {
  const pages = await readPages();
  await using walkthrough = await Walkthrough.start(scratchFolder());
  const run = { blocks: 0, left: 0 };
  for (const { path, blocks } of pages) {
    const ours = blocks.filter(({ note }) => !note.startsWith('not run: '));
    run.left += blocks.length - ours.length;
    if (ours.length === 0) continue;
    let paste: Paste | undefined;
    const shown: string[] = [];
    for (const { note, text } of ours) {
      const aside = asides.find(({ page, begins }) => page === path && text.startsWith(begins));
      paste ??= await openTerminal(walkthrough, path);
      await aside?.before?.(paste, walkthrough);
      if (note === 'in the terminal of the server') await walkthrough.startServer(text);
      else {
        assert.equal(note, '', path);
        shown.push(await paste(text));
      }
      await aside?.after?.(walkthrough);
      run.blocks += 1;
    }
    // The provider of the tools warns in colour that it is one to try with.
    const output = shown.join('').replaceAll(/^.*oidc-provider (?:WARNING|NOTICE).*$/gm, '');
    assert.doesNotMatch(
      output,
      /^FAILED: |command not found|syntax error|\[y\/N\]|^ +at .*:\d+:\d+\)?$/m,
      `${path}\n${output}`,
    );
    // Control sequences would be drawn over what is typed and printed.
    assert.ok(!output.includes('\u001b'), JSON.stringify(output));
    for (const promise of promises[path] ?? []) assert.match(output, promise, path);
  }
  assert.ok(run.blocks > 30 && run.left < run.blocks, JSON.stringify(run));
  for (const page of Object.keys(promises))
    assert.ok(
      pages.some(({ path }) => path === page),
      page,
    );
});
