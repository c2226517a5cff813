import { GroupCommit } from '../../src/store/write/group-commit.ts';

/**
 * Loaded before the server (`node --import`), this makes each write wait until the one before it is answered, so that
 * every request has a transaction and a commit of its own. The rest of the program is unchanged.
 */
// oxlint-disable-next-line typescript/unbound-method -- it is called with its own `this` below
const submit = GroupCommit.prototype.submit;
let last: Promise<unknown> = Promise.resolve();

GroupCommit.prototype.submit = function submitAlone(actor, work) {
  const mine = last.then(() => submit.call(this, actor, work));
  last = mine.catch(() => {});
  // `submit.call` loses the type of the result, which is that of `work`.
  return mine as ReturnType<typeof work>;
};
