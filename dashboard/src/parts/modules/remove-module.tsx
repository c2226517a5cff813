import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useOne } from '../../api/queries.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { inSentence } from './kinds.tsx';
import type { ModuleKind } from './kind.ts';
import { viewOf } from './target.ts';
import type { ModuleTarget } from './target.ts';

/** Names what is lost; switching off keeps it. */
export function RemoveModule({
  target,
  module,
  kind,
  onClose,
}: {
  readonly target: ModuleTarget;
  readonly module: string;
  readonly kind: ModuleKind;
  readonly onClose: () => void;
}) {
  const action = useAction();
  // A module has a tag of its own. All of them are read and removed alike; one stands for the types.
  const read = useOne(target.operationOf(module, 'Get') as 'HttpsEdgeRouteBackendGet', {
    path: target.path as { edge_id: string; id: string },
  });
  const view = viewOf(target.document, module);
  const run = async (): Promise<void> => {
    const isDone = await action.run(() =>
      client.call(target.operationOf(module, 'Delete') as 'HttpsEdgeRouteBackendDelete', {
        path: target.path as { edge_id: string; id: string },
        ...demanding(read.data?.etag),
      }),
    );
    if (!isDone) return;
    toast(`Removed: ${kind.title}.`);
    onClose();
  };
  return (
    <DeleteDialog
      title={`Remove ${inSentence(kind.title)} from ${target.words}?`}
      lost="Its settings are lost. To keep them without effect, switch it off instead."
      uses={
        <ul className="rules">
          <li>
            <Glyph tone={view?.enabled === true ? 'warn' : 'off'} />
            <span>{view?.enabled === true ? 'It is on, and stops at once' : 'It is off: traffic does not change'}</span>
          </li>
          {view === null ? null : (
            <li>
              <span className="grow">
                <kind.Summary view={view} />
              </span>
            </li>
          )}
          <li>
            <span>{kind.whenNotSet.replace(/^Not set(?:: )?/, 'Afterwards: ')}</span>
          </li>
        </ul>
      }
      act="Remove module"
      isPending={action.isPending || read.data === undefined}
      error={action.error}
      onDelete={() => void run()}
      onClose={onClose}
    />
  );
}
