import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';

import type { TunnelSession } from '../../../../client/src/index.ts';
import { useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useList, useOne } from '../../api/queries.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Detail } from '../../components/detail.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Empty } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { linesOf } from '../../resource/uses.tsx';
import { useCredentialName } from '../../parts/credential-names.ts';
import { servedAt, tunnelColumns } from './tunnel-list.tsx';

export function SessionDetail({ id }: { readonly id: string }) {
  const read = useOne('TunnelSessionsGet', { path: { id } });
  return (
    <Detail read={read} noun="session" listPath="/agents">
      {({ document }) => <Shown session={document} isGone={read.error !== undefined} />}
    </Detail>
  );
}

/** Commands that the agent comes back from. Not every agent obeys them: the server says so, with the agent's reason. */
type Told = 'restart' | 'update';
const toldWords = {
  restart: 'The agent was told to restart.',
  update: 'The agent was told to update itself to the newest version of its major version.',
} as const;

function Shown({ session, isGone }: { readonly session: TunnelSession; readonly isGone: boolean }) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const name = useCredentialName()(session.credential.id);
  const command = useAction();
  const [told, setTold] = useState<Told>();
  useCrumb(name);
  const tell = async (what: Told): Promise<void> => {
    setTold(undefined);
    const operation = what === 'restart' ? 'TunnelSessionsRestart' : 'TunnelSessionsUpdate';
    const call = () => client.call(operation, { path: { id: session.id }, body: {} });
    if (await command.run(call)) setTold(what);
  };
  return (
    <>
      <PageHead
        title={name}
        badge={<Verdict tone={isGone ? 'off' : 'allow'}>{isGone ? 'Gone' : 'Online'}</Verdict>}
        lead={isGone ? 'The agent has disconnected. Below is how it was.' : undefined}
        actions={
          mayWrite && !isGone ? (
            <>
              <Button disabled={command.isPending} onClick={() => void tell('restart')}>
                Restart
              </Button>
              <Button disabled={command.isPending} onClick={() => void tell('update')}>
                Update
              </Button>
              <Button look="danger-quiet" onClick={() => setParams({ stop: '1' })}>
                Stop…
              </Button>
            </>
          ) : undefined
        }
      />
      <Problem error={command.error} />
      {told === undefined ? null : (
        <Banner tone="allow" note="It comes back as a session of its own; this page shows the old one.">
          {toldWords[told]}
        </Banner>
      )}
      <Panel>
        <Facts
          facts={[
            ['Source', <Source key="ip" ip={session.ip} />],
            [
              'Credential',
              <Link key="credential" to={`/agents/${session.credential.id}`}>
                {name}
              </Link>,
            ],
            ['Connected', <Time key="at" at={session.started_at} />],
            ['Runs on', session.os],
            ['Version', session.agent_version],
            ['Region', session.region],
            ['Id', <Id key="id" id={session.id} />],
            session.metadata === '' ? undefined : ['Metadata', <code key="metadata">{session.metadata}</code>],
          ]}
        />
      </Panel>
      <Tunnels sessionId={session.id} />
      {isGone ? null : (
        <Pictures
          of={{ agent: session.id }}
          title="Traffic of what it serves"
          note="Which agent took a request is not kept: others that share an endpoint or labels with it are counted here, too."
        />
      )}
      {params.has('stop') && mayWrite ? (
        <StopSession session={session} name={name} onClose={() => setParams({ stop: undefined })} />
      ) : null}
    </>
  );
}

/** The address, and what restrictions of the type agent say about it. */
function Source({ ip }: { readonly ip: string }) {
  const { data } = useOne('IpCheck', { body: { ip, type: 'agent' } });
  const verdict = data?.document;
  return (
    <span className="row" title={verdict?.explanation}>
      {verdict === undefined ? null : verdict.checks.length === 0 ? (
        <Glyph tone="off" label="Not restricted" />
      ) : verdict.allowed_if_all_enforced ? (
        <Glyph tone="allow" label="Let in" />
      ) : (
        <Glyph tone="warn" label="Let in, warned" />
      )}
      <code>{ip}</code>
    </span>
  );
}

function useTunnelsOf(sessionId: string) {
  const { data } = useList('TunnelsList');
  return useMemo(() => data?.filter(({ tunnel_session: session }) => session.id === sessionId), [data, sessionId]);
}

function Tunnels({ sessionId }: { readonly sessionId: string }) {
  const tunnels = useTunnelsOf(sessionId);
  return (
    <Panel title="Tunnels" note={tunnels === undefined ? '' : String(tunnels.length)} flush>
      {tunnels?.length === 0 ? (
        <Empty icon="agent" title="It serves nothing">
          The agent is connected, and has opened no tunnel.
        </Empty>
      ) : (
        <Table label="tunnels" columns={tunnelColumns} rows={tunnels} keyOf={({ id }) => id} />
      )}
    </Panel>
  );
}

function StopSession({
  session,
  name,
  onClose,
}: {
  readonly session: TunnelSession;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const tunnels = useTunnelsOf(session.id) ?? [];
  return (
    <DeleteDialog
      title={`Stop the agent ${name} at ${session.ip}?`}
      lost="The program with the agent is asked to end, and its visitors get 503 from now on. It comes back only when somebody starts it again."
      uses={linesOf(
        tunnels.map((tunnel) => ({
          id: tunnel.id,
          tone: 'warn',
          text: <code>{servedAt(tunnel)}</code>,
          end: tunnel.forwards_to,
        })),
      )}
      act="Stop agent"
      said={`Stopped the agent ${name}.`}
      remove={() => client.call('TunnelSessionsStop', { path: { id: session.id }, body: {} })}
      onDone={() => navigate('/agents')}
      onClose={onClose}
    />
  );
}
