import { AbandonedError } from '../../lib/pace.ts';
import type { LinkPool } from '../../links/link-pool.ts';
import { Unanswered } from '../../links/question.ts';
import type { AskProcess } from '../../resources/other-processes.ts';

/** How long a process has to hear a question, and, where it was silent lately, until it hears one again. */
const heardMs = 2_500;
const silentHeardMs = 500;
/** A process that was silent is asked shortly for so long. */
const silentMs = 30_000;
/** Longer than a gateway takes for any question. */
const answerMs = 14_000;

/** Asks other processes over links. A process that stands still is not waited for again and again. */
export function askProcesses(pool: Pick<LinkPool, 'ask'>): AskProcess {
  const silentAtMs = new Map<string, number>();
  return async (processId, question, isAbandoned) => {
    const nowMs = performance.now();
    for (const [id, atMs] of silentAtMs) if (nowMs - atMs > silentMs) silentAtMs.delete(id);
    const limits = { heardMs: silentAtMs.has(processId) ? silentHeardMs : heardMs, answerMs, isAbandoned };
    try {
      const reply = await pool.ask(processId, question, limits);
      silentAtMs.delete(processId);
      return { state: 'heard', reply };
    } catch (error) {
      if (error instanceof AbandonedError) throw error;
      const isSilent = error instanceof Unanswered && error.isSilent;
      if (isSilent) silentAtMs.set(processId, performance.now());
      return { state: isSilent ? 'no_answer' : 'unreachable' };
    }
  };
}
