import type { ApiKey, User } from '../../../../client/src/index.ts';
import { useChange, useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { countOf, nameOf } from '../../lib/text.ts';

const weekMs = 7 * 24 * 3_600_000;

/** Says what ends with a user, before it does. */
export function DeactivateDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const { id, name } = user;
  const { run, isPending, error } = useChange('UsersUpdate');
  const filter = `obj.owner_id == "${id}"`;
  const { data: keys = [] } = useList('ApiKeysList', { query: { filter } });
  const { data: credentials = [] } = useList('CredentialsList', { query: { filter } });
  const used = usedLately(keys);
  const [newest] = used;
  const deactivate = async (): Promise<void> => {
    if ((await run({ path: { id }, body: { active: false } })) === undefined) return;
    toast(`${name} is deactivated.`);
    onClose();
  };
  return (
    <Dialog
      title={`Deactivate ${name}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep {name}
          </Button>
          <Button look="danger" disabled={isPending} onClick={() => void deactivate()}>
            Deactivate
          </Button>
        </>
      }
    >
      <p className="soft">From this moment {name} cannot sign in.</p>
      <ul className="rules">
        <li>
          <Glyph tone="deny" />
          <span className="grow">Sessions of the dashboard end</span>
        </li>
        <li>
          <Glyph tone={used.length > 0 ? 'warn' : 'off'} />
          <span className="grow">
            {countOf(keys.length, 'API key stops', 'API keys stop')}, {used.length} used in the last 7 days
          </span>
          {newest?.last_used_at === undefined ? null : (
            <span className="end">
              “{nameOf(newest)}”, <Time at={newest.last_used_at} />
            </span>
          )}
        </li>
        <li>
          <Glyph tone={credentials.length > 0 ? 'warn' : 'off'} />
          <span className="grow">
            {credentials.length === 0
              ? 'No agent is disconnected'
              : `${countOf(credentials.length, 'agent credential stops', 'agent credentials stop')}, and agents that use ${credentials.length === 1 ? 'it' : 'them'} are disconnected`}
          </span>
        </li>
        <li>
          <Glyph tone="allow" />
          <span className="grow">Edges, policies and backends stay as they are</span>
        </li>
      </ul>
      <p className="soft">
        If you let {name} back in, keys and credentials work again. Give what must outlive a person to a bot.
      </p>
      <Problem error={error} />
    </Dialog>
  );
}

/** Keys that were used within a week, the one that was used last first. */
function usedLately(keys: readonly ApiKey[]): readonly ApiKey[] {
  return keys
    .filter(({ last_used_at: at }) => at !== undefined && Date.now() - Date.parse(at) < weekMs)
    .toSorted((a, b) => (b.last_used_at ?? '').localeCompare(a.last_used_at ?? ''));
}
