import { useState } from 'react';

import type { Credential, PublicAddresses } from '../../../../client/src/index.ts';
import { useAddresses } from '../../api/addresses.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { Banner } from '../../components/banner.tsx';
import { Id, Secret } from '../../components/copy.tsx';
import { TextField } from '../../components/field.tsx';
import { Facts } from '../../components/page.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { OpenLink } from '../../parts/hostports.tsx';
import { servedAt } from './tunnel-list.tsx';

/** How often the page asks whether the agent has come. */
const askEveryMs = 2000;
const usualPort = '3000';

/** The last step of a new credential: one command to paste, and whether the agent has come. */
export function ConnectAgent({
  document: credential,
  onClose,
}: {
  readonly document: Credential;
  readonly onClose: () => void;
}) {
  const [port, setPort] = useState(usualPort);
  const addresses = useAddresses();
  const served = useServed(credential.id);
  const isPort = /^\d{1,5}$/.test(port.trim());
  return (
    <ShownOnce
      title="Run this beside your program. The token is shown this once."
      token={credential.token ?? ''}
      isUsed={served !== undefined}
      ifLost="If it is lost, create another credential and delete this one."
      onClose={onClose}
      before={
        <>
          <TextField
            label="Port of your program"
            value={port}
            onChange={setPort}
            error={isPort ? undefined : 'A number, such as 3000.'}
          />
          {addresses === undefined ? null : (
            <Secret
              what="command"
              isMain
              text={commandFor(addresses, credential.token ?? '', isPort ? port.trim() : usualPort)}
            />
          )}
          <Reach addresses={addresses} />
          <Connection served={served} />
        </>
      }
    >
      <Facts
        list
        facts={[
          credential.description === undefined ? undefined : ['Description', credential.description],
          ['May bind', credential.acl.length === 0 ? 'Everything' : credential.acl.join(', ')],
          ['Id', <Id key="id" id={credential.id} whole />],
        ]}
      />
    </ShownOnce>
  );
}

/** The token is a variable of the command: other users of the machine can see its flags. */
function commandFor(
  { agent_server: server, agent_fingerprint: fingerprint }: PublicAddresses,
  token: string,
  port: string,
): string {
  const flags = [
    // Brackets of IPv6 are a pattern to some shells.
    ...(server === null ? [] : [`--server ${server.startsWith('[') ? `'${server}'` : server}`]),
    ...(fingerprint === null ? [] : [`--fingerprint ${fingerprint}`]),
  ];
  return [`GATEHOUSE_AUTHTOKEN=${token} gatehouse http ${port}`, ...flags].join(' ');
}

function Reach({ addresses }: { readonly addresses: PublicAddresses | undefined }) {
  if (addresses?.agent_server === null) {
    return (
      <Banner tone="warn" note="Ask its operator to set GATEHOUSE_AGENT_LISTEN.">
        This installation takes no agents.
      </Banner>
    );
  }
  const isLocal = addresses?.agent_server_is_local === true;
  return (
    <p className="muted fine">
      {isLocal
        ? 'Gatehouse takes agents from its own machine only: GATEHOUSE_AGENT_LISTEN opens it for others. '
        : null}
      The machine needs the program <code>gatehouse</code>; in a clone of its sources, write <code>npx gatehouse</code>.
    </p>
  );
}

/** Addresses that agents of the credential serve; undefined until one has connected. */
function useServed(credentialId: string): readonly string[] | undefined {
  const { data } = useRead(
    ['served by', credentialId],
    async (signal) => {
      const { tunnel_sessions: sessions } = await client.call('TunnelSessionsList', { signal });
      const own = new Set(sessions.filter(({ credential }) => credential.id === credentialId).map(({ id }) => id));
      if (own.size === 0) return null;
      const { tunnels } = await client.call('TunnelsList', { signal });
      return tunnels.filter(({ tunnel_session: { id } }) => own.has(id)).map(servedAt);
    },
    { refreshMs: askEveryMs },
  );
  return data ?? undefined;
}

function Connection({ served }: { readonly served: readonly string[] | undefined }) {
  return (
    <div className="stack tight" role="status">
      {served === undefined ? (
        <span className="row">
          <Glyph tone="off" />
          Waiting for it to connect…
        </span>
      ) : (
        <>
          <span className="row">
            <Glyph tone="allow" />
            <b>{served.length === 0 ? 'Connected. It serves nothing yet.' : 'Connected'}</b>
          </span>
          {served.map((address) =>
            /^https?:/.test(address) ? <OpenLink key={address} url={address} /> : <code key={address}>{address}</code>,
          )}
        </>
      )}
    </div>
  );
}
