import { useLocation } from 'wouter';

import type { Reply, ReservedAddr, ReservedDomain } from '../../../../client/src/index.ts';
import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useNameUses } from './name-uses.ts';

export function DeleteName({
  reply,
  name,
  onClose,
}: {
  readonly reply: Reply<ReservedDomain | ReservedAddr>;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const action = useAction();
  const uses = useNameUses()(name);
  const { id } = reply.document;
  const isAddress = 'addr' in reply.document;
  const run = async (): Promise<void> => {
    const input = { path: { id }, ...demanding(reply.etag) };
    const call = () =>
      isAddress ? client.call('ReservedAddrsDelete', input) : client.call('ReservedDomainsDelete', input);
    if (!(await action.run(call))) return;
    toast(`Gave back ${name}.`);
    navigate(isAddress ? '/reserved-names?kind=addresses' : '/reserved-names');
  };
  return (
    <DeleteDialog
      title={`Give back ${name}?`}
      lost={
        isAddress
          ? 'The port can be given to somebody else, and you may not get the same one again.'
          : 'Another account can take the name from this moment.'
      }
      uses={
        uses.length === 0 ? undefined : (
          <ul className="rules">
            {uses.map((use) => (
              <li key={use.id}>
                <Glyph tone="warn" />
                <span className="grow">{use.text}</span>
                <span className="end">uses it: take it out there first</span>
              </li>
            ))}
          </ul>
        )
      }
      typeName={uses.length === 0 ? undefined : name}
      act={isAddress ? 'Give back the address' : 'Give back the domain'}
      isPending={action.isPending}
      error={action.error}
      onDelete={() => void run()}
      onClose={onClose}
    />
  );
}
