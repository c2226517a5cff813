import type { ReactNode } from 'react';

import { useSession } from '../../api/session.ts';
import { ButtonLink } from '../../components/button.tsx';
import { CopyButton, Secret } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';

/** Three steps from an empty installation to a protected edge, each with its button. */
export function Steps({
  done,
  isNew,
  backendId,
  unfinished,
}: {
  readonly done: readonly [boolean, boolean, boolean];
  readonly isNew: boolean;
  /** The backend that a new edge sends traffic to. */
  readonly backendId: string | undefined;
  /** Path of an edge that is there and serves nobody yet. */
  readonly unfinished: string | undefined;
}) {
  const { address, version } = useSession();
  const mayWrite = useMayWrite();
  const current = done.indexOf(false);
  const newEdge = `create=1&from=overview${backendId === undefined ? '' : `&backend=${backendId}`}`;
  const steps: readonly (readonly [title: string, text: ReactNode, links: readonly (readonly [string, string])[]])[] = [
    [
      'Name an upstream',
      <>
        Where traffic should go: a host and port that this machine can reach, such as <code>10.20.4.11:8080</code>.
      </>,
      [['/backends?create=1&from=overview', 'Add a backend']],
    ],
    [
      'Open an edge in front of it',
      'HTTPS for a host name, or TCP for a port. Without a certificate of yours, Gatehouse signs one with its own authority, so you can try it at once.',
      unfinished === undefined
        ? [
            [`/https-edges?${newEdge}`, 'Create an HTTPS edge'],
            [`/tcp-edges?${newEdge}`, 'Create a TCP edge'],
          ]
        : [[unfinished, 'Finish the edge']],
    ],
    [
      'Decide who gets in',
      <>
        Start with a policy that allows your address, <code>{address}</code>. Put before all edges, a restriction only
        warns at first: you see whom it would refuse, then enforce it with one click.
      </>,
      [['/ip-restrictions?create=1', 'Add a restriction']],
    ],
  ];
  return (
    <>
      {isNew ? (
        <PageHead
          title="Three steps to a protected edge"
          lead="Nothing is served yet. Each step can be undone, and nobody is refused before you say so in step 3."
        />
      ) : null}
      <section className="panel" aria-label="Steps to a protected edge">
        <ol className="steps">
          {steps.map(([title, text, links], index) => (
            <li key={title} aria-current={index === current ? 'step' : undefined}>
              <span className="no">{done[index] === true ? <Icon name="check" /> : index + 1}</span>
              <div>
                <h2>
                  {title}
                  {done[index] === true ? <span className="vh">, done</span> : null}
                </h2>
                <p>{text}</p>
              </div>
              {mayWrite ? <StepLinks links={links} isCurrent={index === current} /> : null}
            </li>
          ))}
        </ol>
      </section>
      {isNew ? (
        <div className="cols">
          <Panel title="A program on your own machine?">
            <div className="stack tight">
              <p className="soft">
                An agent gives it a public address, also behind NAT: one command, without a backend or an edge.
              </p>
              {mayWrite ? <ButtonLink to="/agents?create=1">Connect an agent</ButtonLink> : null}
            </div>
          </Panel>
          <Panel title="Have a configuration already?">
            <div className="stack tight">
              <p className="soft">Import it from ngrok’s API, Caddy or Kong, or apply files.</p>
              <Secret what="command" text="npx gatehouse import --help" />
            </div>
          </Panel>
          <Panel title="This installation">
            <Facts
              list
              facts={[
                [
                  'Management API',
                  <span key="url" className="row">
                    <code>{location.origin}</code>
                    <CopyButton text={location.origin} what="URL" />
                  </span>,
                ],
                ['Version', version],
              ]}
            />
          </Panel>
        </div>
      ) : null}
    </>
  );
}

function StepLinks({
  links,
  isCurrent,
}: {
  readonly links: readonly (readonly [string, string])[];
  readonly isCurrent: boolean;
}) {
  return (
    <div className="actions">
      {links.map(([to, words], index) => (
        <ButtonLink key={to} to={to} {...(isCurrent && index === 0 ? { look: 'primary' as const } : {})}>
          {words}
        </ButtonLink>
      ))}
    </div>
  );
}
