import { useLocation } from 'wouter';

import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useBackends, useBackendUses } from '../../parts/backends.ts';

export function DeleteBackend({
  id,
  etag,
  onClose,
}: {
  readonly id: string;
  readonly etag: string | undefined;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const action = useAction();
  const { name, kind } = useBackends().find(id);
  const uses = useBackendUses()(id);
  const run = async (): Promise<void> => {
    const input = { path: { id }, ...demanding(etag) };
    const call = () =>
      kind === 'static' ? client.call('StaticBackendsDelete', input) : client.call('TunnelGroupBackendsDelete', input);
    if (!(await action.run(call))) return;
    toast(`Deleted the backend ${name}.`);
    navigate(kind === 'static' ? '/backends' : '/backends?kind=tunnel_group');
  };
  return (
    <DeleteDialog
      title={`Delete the backend “${name}”?`}
      lost={
        uses.length === 0
          ? 'No edge uses it. This cannot be undone.'
          : 'It is used below, and is not deleted while it is: give these another backend first.'
      }
      uses={
        uses.length === 0 ? undefined : (
          <ul className="rules">
            {uses.map((use) => (
              <li key={use.id}>
                <Glyph tone={use.isOn ? 'warn' : 'off'} />
                <span className="grow">{use.text}</span>
              </li>
            ))}
          </ul>
        )
      }
      act="Delete backend"
      isPending={action.isPending}
      error={action.error}
      onDelete={() => void run()}
      onClose={onClose}
    />
  );
}
