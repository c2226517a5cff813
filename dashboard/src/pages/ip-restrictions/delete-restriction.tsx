import { useLocation } from 'wouter';

import type { IpRestriction } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { nameOf } from '../../lib/text.ts';

export function DeleteRestriction({
  restriction,
  etag,
  onClose,
}: {
  readonly restriction: IpRestriction;
  readonly etag: string | undefined;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const change = useChange('IpRestrictionsDelete');
  const { id, enforced } = restriction;
  const run = async (options: { allowLockout?: boolean }): Promise<void> => {
    const demanded = etag === undefined ? {} : { ifMatch: etag };
    if ((await change.run({ path: { id }, ...demanded, ...options })) === undefined) return;
    toast(`Deleted ${nameOf(restriction)}.`);
    navigate('/ip-restrictions');
  };
  return (
    <DeleteDialog
      title={`Delete the restriction “${nameOf(restriction)}”?`}
      lost={
        enforced
          ? 'Addresses that it refuses get in from this moment. Its warnings and decisions are lost, and this cannot be undone. Its policies stay.'
          : 'It refuses nobody now. Its warnings and decisions are lost, and this cannot be undone. Its policies stay.'
      }
      typeName={enforced ? nameOf(restriction) : undefined}
      act="Delete restriction"
      isPending={change.isPending}
      error={change.error}
      onDelete={(options) => void run(options)}
      onClose={onClose}
    />
  );
}
