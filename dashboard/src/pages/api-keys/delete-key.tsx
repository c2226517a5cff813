import { useLocation } from 'wouter';

import { useOwners } from '../../api/owners.ts';
import { useChange, useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { nameOf } from '../../lib/text.ts';
import { isInUse } from './key-state.tsx';

export function DeleteKey({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const read = useOne('ApiKeysGet', { path: { id } });
  const change = useChange('ApiKeysDelete');
  const owner = useOwners();
  const { api_key: mine } = useSession();
  const key = read.data?.document;
  if (key === undefined) return null;
  const run = async (options: { allowLockout?: boolean }): Promise<void> => {
    if ((await change.run({ path: { id }, ...options })) === undefined) return;
    toast(`Deleted the key ${nameOf(key)}.`);
    navigate('/api-keys');
  };
  return (
    <DeleteDialog
      title={`Delete the key “${nameOf(key)}” of ${owner(key.owner_id).name}?`}
      lost="Calls with it fail from this moment. This cannot be undone: its token cannot be made again."
      uses={
        <ul className="rules">
          <li>
            <Glyph tone={isInUse(key) ? 'warn' : 'off'} />
            {key.last_used_at === undefined ? (
              <span className="grow">It was never used</span>
            ) : (
              <span className="grow">
                Last used <Time at={key.last_used_at} />
              </span>
            )}
          </li>
          <li>
            {id === mine.id ? <Glyph tone="warn" /> : <Icon name="info" />}
            <span className="grow">
              {id === mine.id
                ? 'You are signed in with it: this session ends with it'
                : 'Dashboard sessions that were opened with it end with it'}
            </span>
          </li>
        </ul>
      }
      typeName={isInUse(key) ? nameOf(key) : undefined}
      act="Delete key"
      isPending={change.isPending}
      error={change.error}
      onDelete={(options) => void run(options)}
      onClose={onClose}
    />
  );
}
