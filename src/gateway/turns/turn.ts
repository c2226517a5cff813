/** Number of the turn of the event loop: one round of reads, timers and what follows from them. */
let turn = 0;
let isArmed = false;
let tasks: (() => void)[] = [];

/** Differs between two calls if the event loop has come to the end of a turn between them. */
export function currentTurn(): number {
  arm();
  return turn;
}

/** Calls back when everything that has come by now was read once. The task must not throw. */
export function atTurnEnd(task: () => void): void {
  arm();
  tasks.push(task);
}

/** Node runs immediates after a round of reads, within the same turn: one for all who ask costs next to nothing. */
function arm(): void {
  if (isArmed) return;
  isArmed = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  isArmed = false;
  turn += 1;
  const due = tasks;
  tasks = [];
  for (const task of due) task();
}
