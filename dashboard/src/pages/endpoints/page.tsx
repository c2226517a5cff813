import { Link } from 'wouter';

import type { Endpoint, OperationId } from '../../../../client/src/index.ts';
import { useLive } from '../../api/live.ts';
import { CopyButton } from '../../components/copy.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Banner } from '../../components/banner.tsx';
import type { PageProps } from '../../components/page.tsx';
import { PublicName } from '../../parts/hostports.tsx';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { OpenDoors } from '../../parts/rule-findings.tsx';
import { callOf, rehearse } from '../../parts/rehearsal/rehearse.ts';
import { useRehearsal } from '../../parts/rehearsal/use-rehearsal.tsx';
import { RefusedLately } from '../../parts/refused-lately.tsx';
import { PolicyView } from '../../parts/policy/policy-view.tsx';
import { usePolicyUses } from '../../parts/policy/policy-uses.ts';
import type { Resource, Shown } from '../../resource/describe.ts';
import { ResourcePages } from '../../resource/lists.tsx';
import { EditActs, standardFacts } from '../../resource/page.tsx';
import { canBeReverted, linesOf, UsesPanel } from '../../resource/uses.tsx';
import { errors, fields } from './endpoint-fields.tsx';
import { path, rows, ServedBy } from './endpoint-list.tsx';

/** Endpoints of agents come and go by themselves. */
const live: readonly OperationId[] = ['EndpointsList'];

const about = 'An endpoint is a URL that something answers: an edge, an agent, or a traffic policy alone.';

const endpoints: Resource<'EndpointsList'> = {
  list: 'EndpointsList',
  noun: ['endpoint', 'endpoints'],
  icon: 'link',
  path,
  mayWrite: ({ type }) => type === 'cloud',
  filterHint: 'URL, target, description or id',
  whenEmpty: ['No endpoints', about],
  Rows: ({ render }) => render(rows),
  nameOf: ({ public_url: url }) => url,
  fields,
  errors,
  create: {
    title: 'Create a cloud endpoint',
    open: 'Create endpoint',
    act: 'Create endpoint',
    intro: 'Nothing is behind it but its policy, which answers, refuses or forwards each visit.',
    isLarge: true,
    missing: ({ url, traffic_policy: policy }) =>
      url === '' ? 'Give it a URL' : policy === '' ? 'Give it a policy' : undefined,
  },
  edit: {
    Allow: ({ edit, document, render }) => {
      // The field above has made it.
      const policy = edit.values['traffic_policy'] as string;
      const rehearsal = useRehearsal({
        needsVisits: true,
        subject: JSON.stringify(edit.values),
        what: 'This policy',
        rehearse: (signal) =>
          rehearse(callOf('EndpointsUpdate', { path: { id: document.id }, body: { traffic_policy: policy } }), signal),
        save: (options) => void edit.save(options),
        isSaving: edit.isPending,
        error: edit.error,
      });
      return render(policy === (document.traffic_policy ?? '') ? {} : { rehearsal });
    },
  },
  lead: ({ description = '' }) => (description === '' ? undefined : description),
  facts: (endpoint) => {
    const { name, type, bindings, upstream_url: upstream = '', domain, tcp_addr: address } = endpoint;
    const isInternal = bindings.includes('internal');
    const reserved = domain ?? address;
    return [
      ['Reached at', <ReachedAt key="at" endpoint={endpoint} />],
      ['Open to', isInternal ? 'Endpoints and routes of this account' : 'Visitors'],
      ['Served by', <ServedBy key="by" endpoint={endpoint} />],
      name === undefined ? undefined : ['Name', name],
      upstream === '' ? undefined : ['Forwards to', <code key="to">{upstream}</code>],
      type === 'edge' ? undefined : ['Shared', endpoint.pooling_enabled ? 'Yes, others may have this URL too' : 'No'],
      reserved === undefined
        ? undefined
        : [
            'Reserved name',
            <Link key="name" to={`/reserved-names/${reserved.id}`}>
              {domain === undefined ? endpoint.hostport : endpoint.host}
            </Link>,
          ],
      ...standardFacts(endpoint, type === 'cloud' ? 'Created' : 'Since'),
    ];
  },
  acts: ({ document: { id, type, bindings }, mayWrite, isEditing }) =>
    isEditing ? undefined : (
      <>
        {type === 'edge' || bindings.includes('internal') ? null : (
          <>
            <RefusedLately of={{ edge: id }} />
            <ButtonLink to={`/who-gets-in?edge=${id}`}>Who gets in here</ButtonLink>
            <ButtonLink to={`/inspect?subject=${id}`}>Inspect requests</ButtonLink>
          </>
        )}
        {mayWrite ? <EditActs /> : null}
      </>
    ),
  Body,
  Removal: ({ document: endpoint, render }) => {
    const { public_url: url } = endpoint;
    const users = usePolicyUses((policy) => forwardsTo(policy, url)).uses.filter(({ id }) => id !== endpoint.id);
    return render({
      lost: `Nothing answers at ${url} from now on, and open connections end. ${canBeReverted}`,
      uses: linesOf(users.map((use) => ({ ...use, tone: 'warn', end: 'forwards to it' }))),
      mustType: true,
    });
  },
};

const notHere = {
  ephemeral: 'An agent has this endpoint: it comes and goes with the agent, which also gives it its policy.',
  edge: 'An edge has this endpoint: it is changed on the page of the edge.',
} as const;

function Body({ document: endpoint, isEditing }: Shown<Endpoint>) {
  const { id, type, bindings, public_url: url, traffic_policy: policy = '' } = endpoint;
  const isInternal = bindings.includes('internal');
  const isShared = type === 'ephemeral' && endpoint.pooling_enabled;
  return (
    <>
      {type === 'cloud' ? null : <Banner>{notHere[type]}</Banner>}
      {type === 'edge' || isInternal ? null : <OpenDoors doors={[{ id }]} to={`/who-gets-in?edge=${id}`} />}
      {type === 'edge' || (isInternal && type === 'cloud') ? null : (
        <Pictures
          of={isInternal ? { backend: id } : { edge: id }}
          note={isShared ? 'Agents that share it are counted together, but for those that have a policy.' : undefined}
        />
      )}
      {isEditing || policy === '' ? null : <PolicyView policy={policy} url={type === 'cloud' ? url : `${url}/`} />}
      {isInternal ? <Forwarders id={id} url={url} /> : null}
    </>
  );
}

/** Policies that name an internal endpoint. */
function Forwarders({ id, url }: { readonly id: string; readonly url: string }) {
  const { uses, isCut } = usePolicyUses((policy) => forwardsTo(policy, url));
  const others = uses.filter((use) => use.id !== id);
  return (
    <UsesPanel
      title="Forwarded to by"
      note={isCut ? 'of the newest 1,000 policies' : String(others.length)}
      uses={others}
      icon="link"
      none="No policy names it"
    >
      An endpoint or route reaches it by the action forward-internal with this URL, or one that is worked out.
    </UsesPanel>
  );
}

/** Whether the text has exactly this URL: a longer one is another endpoint. */
function forwardsTo(policy: string, url: string): boolean {
  for (let at = policy.indexOf(url); at >= 0; at = policy.indexOf(url, at + 1))
    if (!/[\w.:-]/.test(policy.charAt(at + url.length))) return true;
  return false;
}

function ReachedAt({ endpoint: { public_url: url, hostport, proto, bindings } }: { readonly endpoint: Endpoint }) {
  if (proto !== 'http' && !bindings.includes('internal')) return <PublicName kind={proto} hostport={hostport} />;
  return (
    <span className="row">
      <code>{url}</code>
      <CopyButton text={url} />
    </span>
  );
}

export function Page({ id }: PageProps) {
  useLive(live);
  return <ResourcePages resource={endpoints} id={id} title="Endpoints" lead={about} />;
}
