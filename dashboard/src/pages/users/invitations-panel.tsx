import { useMemo, useState } from 'react';

import type { Invitation } from '../../../../client/src/index.ts';
import { useAct, useList } from '../../api/queries.ts';
import { client } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { LinkDialog } from './invite-dialog.tsx';
import { roleNames } from './user-words.ts';

/** People who have not opened their link yet; nothing where there are none. */
export function InvitationsPanel() {
  const { data = [] } = useList('InvitationsList');
  const mayWrite = useMayWrite('admins');
  const [renewed, setRenewed] = useState<Invitation>();
  const takeBack = useAct(async ({ id, name }: Invitation) => {
    await client.call('InvitationsDelete', { path: { id } });
    toast(`${name} is no longer invited.`);
  });
  const renew = useAct(async ({ id, name, email, role }: Invitation) => {
    await client.call('InvitationsDelete', { path: { id } });
    const body = { name, role, ...(email === undefined ? {} : { email }) };
    setRenewed(await client.call('InvitationsCreate', { body }));
  });
  const isPending = takeBack.isPending || renew.isPending;
  const columns = useMemo(
    () => columnsOf(mayWrite ? { takeBack: takeBack.run, renew: renew.run, isPending } : undefined),
    [mayWrite, takeBack.run, renew.run, isPending],
  );
  return (
    <>
      {data.length === 0 ? null : (
        <Panel title="Invited" note={String(data.length)} flush>
          <Table label="invitations" columns={columns} rows={data} keyOf={({ id }) => id} />
        </Panel>
      )}
      <Problem error={takeBack.error ?? renew.error} />
      {renewed === undefined ? null : <LinkDialog invitation={renewed} onClose={() => setRenewed(undefined)} />}
    </>
  );
}

interface Acts {
  readonly takeBack: (invitation: Invitation) => Promise<unknown>;
  readonly renew: (invitation: Invitation) => Promise<unknown>;
  readonly isPending: boolean;
}

function columnsOf(acts: Acts | undefined): readonly Column<Invitation>[] {
  const columns: readonly Column<Invitation>[] = [
    {
      id: 'name',
      head: 'Name',
      width: '30%',
      cell: ({ name, email }) => (
        <>
          <span className="main">{name}</span>
          {email === undefined ? null : <span className="sub">{email}</span>}
        </>
      ),
    },
    { id: 'role', head: 'Role', priority: 'p1', cell: ({ role }) => roleNames[role] },
    {
      id: 'state',
      head: 'State',
      priority: 'p2',
      cell: ({ expires_at: end }) =>
        Date.parse(end) > Date.now() ? (
          <>
            <Verdict tone="off">Invited</Verdict>
            <span className="sub">
              link ends <Time at={end} />
            </span>
          </>
        ) : (
          <Verdict tone="warn">Link is over</Verdict>
        ),
    },
  ];
  if (acts === undefined) return columns;
  return [
    ...columns,
    {
      id: 'acts',
      head: '',
      isRight: true,
      isNarrow: true,
      cell: (invitation) => (
        <span className="row">
          <Button small disabled={acts.isPending} onClick={() => void acts.renew(invitation)}>
            New link…
          </Button>
          <Button small disabled={acts.isPending} onClick={() => void acts.takeBack(invitation)}>
            Take back
          </Button>
        </span>
      ),
    },
  ];
}
