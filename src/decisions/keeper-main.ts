/** The program of the keeper: the store of decisions, at the other end of its parent's channel. */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { Appending } from './appending.ts';
import type { KeeperReply, KeeperRequest } from './messages.ts';
import { DecisionStore } from './store.ts';

/** Traffic goes before: where there is no time left, decisions wait, and are dropped. */
const niceness = 10;

/** Files are closed for so long at the most before the parent has its answer. */
const tendMs = 20_000;

/** How long a parent's answer waits for the archive. */
const archiveMs = 5_000;

let store: DecisionStore | undefined;
let appending: Appending | undefined;
/** Tasks that write, one after the other. */
let writes: Promise<unknown> = Promise.resolve();

// The engine makes files that all may read.
process.umask(0o077);
try {
  setPriority(niceness);
} catch {
  // A system that does not let it runs it as any other process.
}
// A terminal or a service manager signals the whole group: the parent ends the keeper.
process.on('SIGINT', ignore).on('SIGTERM', ignore);
process.on('disconnect', () => {
  process.exit();
});
process.on('message', (message) => {
  // Only keeper.ts writes to this channel.
  void answer(message as KeeperRequest);
});

async function answer(message: KeeperRequest): Promise<void> {
  const { request } = message;
  const reply: KeeperReply = await perform(message).then(
    (result) => ({ request, result }),
    (error: unknown) => ({ request, fault: error instanceof Error ? error.message : String(error) }),
  );
  if (process.connected) process.send?.(reply);
}

async function perform(message: KeeperRequest): Promise<unknown> {
  if (message.task === 'start') {
    store = await DecisionStore.open(message.options);
    appending = new Appending(store);
    return store.started;
  }
  const [opened, appends] = [store, appending];
  if (opened === undefined || appends === undefined) throw new Error('the store has not been opened');
  switch (message.task) {
    case 'ask':
      return message.kind === 'after' ? opened.after(message.asked) : opened.ask(message.kind, message.asked);
    case 'append':
      return inTurn(() => appends.append(message.packed, message.nowMs));
    case 'tend':
      return tend(opened, message.nowMs);
    default:
      return inTurn(() => opened.close());
  }
}

/** Closes one file at a time, so that appends do not wait for all of them. */
async function tend(opened: DecisionStore, nowMs: number): Promise<unknown> {
  const untilMs = performance.now() + tendMs;
  let hasMore = true;
  while (hasMore && performance.now() < untilMs) hasMore = await inTurn(() => opened.closeDue(nowMs));
  hasMore = true;
  while (hasMore && performance.now() < untilMs) hasMore = await inTurn(() => opened.rollUpDue(nowMs));
  const copied = opened.archiveDue();
  // An archive may take any time; the next answer tells of it.
  await Promise.race([copied, sleep(archiveMs)]);
  return inTurn(() => opened.tidy(nowMs));
}

function inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
  const done = writes.then(write);
  writes = done.catch(ignore);
  return done;
}

function ignore(): void {}
