import { useList } from '../../api/queries.ts';
import { CopyButton } from '../../components/copy.tsx';
import { useShownAddress } from '../hostports.tsx';
import type { ModuleTarget } from './target.ts';

const callback = '/.gatehouse/sign-in/callback';

/** The addresses that the provider has to know: visitors come back there. */
export function Callbacks({ document }: { readonly document: ModuleTarget['document'] }) {
  const shownAddress = useShownAddress('https');
  const { data: edges = [] } = useList('HttpsEdgesList');
  const edge = 'edge_id' in document ? edges.find(({ id }) => id === document.edge_id) : undefined;
  const hostports = edge?.hostports ?? [];
  if (hostports.length === 0)
    return (
      <p className="soft">
        The edge has no hostport yet. The provider has to know <code>https://HOST{callback}</code> for each.
      </p>
    );
  return (
    <div className="stack tight">
      <p className="soft">
        Register {hostports.length === 1 ? 'this address' : 'these addresses'} at the provider, or visitors cannot come
        back
        {hostports.some((hostport) => hostport.startsWith('*')) ? '; each name below a * by itself' : ''}:
      </p>
      {hostports.map((hostport) => {
        const address = shownAddress(hostport).replace(/\/$/, '');
        const url = `${address.startsWith('https://') ? address : `https://${address.replace(/:443$/, '')}`}${callback}`;
        return (
          <span key={hostport} className="row">
            <code>{url}</code>
            <CopyButton text={url} />
          </span>
        );
      })}
    </div>
  );
}
