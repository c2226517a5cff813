import type { ReactNode } from 'react';
import { useLocation } from 'wouter';

import { useAction } from '../../api/action.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { edgeName } from '../backends.ts';
import type { NamedEdge } from '../backends.ts';

/** Asks before an edge goes, with what goes with it. The name of one that serves has to be typed. */
export function DeleteEdge({
  edge,
  kind,
  isServing,
  lost,
  more,
  remove,
  onClose,
}: {
  readonly edge: NamedEdge;
  readonly kind: 'https' | 'tcp';
  readonly isServing: boolean;
  readonly lost: string;
  /** Lines below the hostports. */
  readonly more: ReactNode;
  readonly remove: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const action = useAction();
  const name = edgeName(edge);
  const run = async (): Promise<void> => {
    if (!(await action.run(remove))) return;
    toast(`Deleted the edge ${name}.`);
    navigate(`/${kind}-edges`);
  };
  return (
    <DeleteDialog
      title={`Delete the edge “${name}”?`}
      lost={lost}
      uses={
        <ul className="rules">
          {(edge.hostports ?? []).map((hostport) => (
            <li key={hostport}>
              <Glyph tone={isServing ? 'warn' : 'off'} />
              <code>{hostport}</code>
              <span className="end">becomes free</span>
            </li>
          ))}
          {more}
        </ul>
      }
      typeName={isServing ? name : undefined}
      act="Delete edge"
      isPending={action.isPending}
      error={action.error}
      onDelete={() => void run()}
      onClose={onClose}
    />
  );
}
