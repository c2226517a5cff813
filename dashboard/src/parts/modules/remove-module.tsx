import { demanding } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useOne } from '../../api/queries.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
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
  // A module has a tag of its own. All of them are read and removed alike; one stands for the types.
  const read = useOne(target.operationOf(module, 'Get') as 'HttpsEdgeRouteBackendGet', {
    path: target.path as { edge_id: string; id: string },
  });
  const view = viewOf(target.document, module);
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
      said={`Removed: ${kind.title}.`}
      isWaiting={read.data === undefined}
      remove={() =>
        client.call(target.operationOf(module, 'Delete') as 'HttpsEdgeRouteBackendDelete', {
          path: target.path as { edge_id: string; id: string },
          ...demanding(read.data?.etag),
        })
      }
      onClose={onClose}
    />
  );
}
