import type { ResilientGateway } from '../../gateway/resilient-gateway.ts';
import { readOutcome } from '../../observe/replay-messages.ts';
import type { ReplayQuestion } from '../../observe/replay-messages.ts';
import type { SendReplay } from '../../resources/inspections/service.ts';
import type { AskProcess } from '../../resources/other-processes.ts';

interface SendingParts {
  readonly gateway: Pick<ResilientGateway, 'engine'> | undefined;
  readonly processId: string;
  readonly ask: AskProcess;
}

/** Sends requests through the gateway of this process, or of another one. */
export function sendReplays({ gateway, processId, ask }: SendingParts): SendReplay {
  return async (through, request) => {
    if (through === processId) return gateway?.engine?.replay(request);
    const question: ReplayQuestion = { about: 'replays', request };
    const heard = await ask(through, question);
    return heard.state === 'heard' ? readOutcome(heard.reply) : undefined;
  };
}
