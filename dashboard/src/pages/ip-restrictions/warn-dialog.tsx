import type { IpRestriction, Reply } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EditProblem } from '../../components/problem.tsx';
import { toast } from '../../components/toast.tsx';
import { nameOf } from '../../lib/text.ts';

/** The way back: from enforced to warning. */
export function WarnDialog({
  seen,
  reread,
  onClose,
}: {
  readonly seen: Reply<IpRestriction>;
  readonly reread: () => Promise<Reply<IpRestriction>>;
  readonly onClose: () => void;
}) {
  const { id } = seen.document;
  const edit = useEdit({
    seen,
    reread,
    toValues: ({ enforced }: IpRestriction) => ({ enforced }),
    start: { enforced: false },
    send: (body, options) => client.call('IpRestrictionsUpdate', { path: { id }, body, ...options }),
    onSaved: () => {
      toast(`${nameOf(seen.document)} only warns.`);
      onClose();
    },
  });
  return (
    <Dialog
      title={`Turn “${nameOf(seen.document)}” back to warning?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep it enforced
          </Button>
          <Button look="primary" disabled={edit.isPending} onClick={() => void edit.save()}>
            Turn to warning
          </Button>
        </>
      }
    >
      <p>
        Addresses that it refuses get in from this moment, as far as nothing else refuses them. It goes on to warn of
        them.
      </p>
      <EditProblem edit={edit} />
    </Dialog>
  );
}
