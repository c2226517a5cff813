import { useCallback } from 'react';

import { ApiError, visitorAddress, visitorUrl } from '../../../client/src/index.ts';
import { useAddresses } from '../api/addresses.ts';
import type { CallError } from '../api/client.ts';
import { CopyButton } from '../components/copy.tsx';
import { TextsField } from '../components/list-fields.tsx';
import { UnbrokenPort } from '../components/unbroken-port.tsx';

/** Errors about hostports, whose messages quote the one they are about. */
const numbers = [7104, 7112, 7116, 7122, 7129, 20_014, 20_030, 20_031, 20_009];
export const hostportErrors = Object.fromEntries(numbers.map((number) => [number, 'hostports']));

/** Lines as they are sent: trimmed, without empty ones. A name alone is one at the usual port of HTTPS. */
export function hostportsOf(kind: 'https' | 'tcp' | 'tls', lines: readonly string[]): string[] {
  const given = lines.map((line) => line.trim()).filter((line) => line !== '');
  return kind === 'tcp' ? given : given.map((line) => (line.includes(':') ? line : `${line}:443`));
}

export function HostportsField({
  kind,
  hostports,
  onChange,
  error,
}: {
  readonly kind: 'https' | 'tcp' | 'tls';
  readonly hostports: readonly string[];
  readonly onChange: (hostports: readonly string[]) => void;
  /** Shown here if it is about a hostport. */
  readonly error: CallError | undefined;
}) {
  const isMine = error instanceof ApiError && error.number !== undefined && numbers.includes(error.number);
  const line = isMine ? hostports.findIndex((each) => each.trim() !== '' && error.message.includes(each.trim())) : -1;
  return (
    <TextsField
      label="Hostports"
      noun="Hostport"
      addWords="Add hostport"
      placeholder={kind === 'tcp' ? 'tcp.example.com:10022' : 'app.example.com'}
      hint={
        kind === 'tcp'
          ? 'Where it is reached, as host:port. The gateway opens the port.'
          : 'The name under which it is reached; without a port it is 443. The first label may be * for any one label.'
      }
      texts={hostports}
      onChange={onChange}
      error={isMine ? error.message : undefined}
      errorLine={line < 0 ? undefined : line}
    />
  );
}

export type EdgeKind = 'https' | 'tcp' | 'tls';

/** Hostports as visitors reach them: a URL where a browser opens it, else host and port. */
export function useShownAddress(kind: EdgeKind): (hostport: string) => string {
  const addresses = useAddresses();
  return useCallback(
    (hostport) => {
      if (kind === 'tcp' || addresses === undefined) return hostport;
      const { host, port } = visitorAddress(hostport, addresses);
      return (kind === 'https' ? visitorUrl(hostport, addresses) : undefined) ?? `${host}:${port}`;
    },
    [kind, addresses],
  );
}

/** A hostport as visitors reach it, with a link for HTTPS and the button that copies it. */
export function PublicName({ kind, hostport }: { readonly kind: EdgeKind; readonly hostport: string }) {
  const shown = useShownAddress(kind)(hostport);
  return (
    <span className="row">
      {shown.startsWith('https://') ? <OpenLink url={shown} /> : <HostportText text={shown} />}
      <CopyButton text={shown} />
    </span>
  );
}

/** A URL that a browser opens, in a tab of its own. */
export function OpenLink({ url }: { readonly url: string }) {
  return (
    <a className="mono" href={url} target="_blank" rel="noreferrer" onClick={(event) => event.stopPropagation()}>
      <UnbrokenPort text={url} />
    </a>
  );
}

export function HostportText({ text }: { readonly text: string }) {
  return (
    <code>
      <UnbrokenPort text={text} />
    </code>
  );
}
