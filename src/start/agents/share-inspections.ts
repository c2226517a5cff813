import type { LinkDirectory } from '../../links/link-directory.ts';
import type { InspectionQuestion } from '../../observe/inspection-messages.ts';
import type { Inspections } from '../../observe/inspections.ts';
import type { AskProcess } from '../../resources/other-processes.ts';

/** Delay after which a gateway that was started, or that stood still, knows what is inspected. */
const shareMs = 10_000;

interface SharingParts {
  readonly inspections: Inspections;
  readonly directory: Pick<LinkDirectory, 'otherGateways'>;
  readonly processId: string;
  readonly ask: AskProcess;
}

/** Tells other gateways what is inspected, as long as something is, and hears what they know. */
export function shareInspections(parts: SharingParts): Disposable {
  let isSharing = false;
  const share = async (): Promise<void> => {
    if (isSharing) return;
    isSharing = true;
    for (const accountId of parts.inspections.accounts()) await shareOne(parts, accountId);
    isSharing = false;
  };
  const timer = setInterval(() => void share(), shareMs).unref();
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
    },
  };
}

async function shareOne({ inspections, directory, processId, ask }: SharingParts, accountId: string): Promise<void> {
  const asked = directory.otherGateways(processId).map(async (id) => {
    const question: InspectionQuestion = { about: 'inspections', accountId, ...inspections.share(accountId) };
    const heard = await ask(id, question);
    if (heard.state !== 'heard') return;
    try {
      inspections.hear(accountId, heard.reply);
    } catch {
      // A gateway of another version has other words for it.
    }
  });
  await Promise.all(asked);
}
