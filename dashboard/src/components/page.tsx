import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { ListId } from '../../../client/src/index.ts';
import { useList } from '../api/queries.ts';

export interface PageProps {
  /** The id of the one thing that is open: /dashboard/<path>/<id>. */
  readonly id: string | undefined;
  /** Every page, for one that shows them all. */
  readonly pages: readonly PageLink[];
}

interface PageLink {
  readonly path: string;
  readonly title: string;
  readonly list?: ListId;
}

/** The head of a page: its title, a state beside it, one sentence, and what can be done. */
export function PageHead({
  title,
  badge,
  lead,
  actions,
}: {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <div className="head">
      <div>
        <div className="title">
          <h1>{title}</h1>
          {badge}
        </div>
        {lead === undefined ? null : <p>{lead}</p>}
      </div>
      {actions === undefined ? null : <div className="actions">{actions}</div>}
    </div>
  );
}

export function Panel({
  title,
  note,
  action,
  footer,
  flush = false,
  children,
}: {
  readonly title?: string;
  readonly note?: string;
  readonly action?: ReactNode;
  readonly footer?: ReactNode;
  /** Tables and lists reach the border. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <section className={flush ? 'panel flush' : 'panel'}>
      {title === undefined ? null : (
        <header>
          <h2>
            {title}
            {note === undefined ? null : <small>{note}</small>}
          </h2>
          {action}
        </header>
      )}
      {flush ? children : <div className="pad">{children}</div>}
      {footer === undefined ? null : <footer>{footer}</footer>}
    </section>
  );
}

export type Fact = readonly [name: string, value: ReactNode];

/** Facts about a thing; `list` puts names left and values right. */
export function Facts({
  facts,
  list = false,
}: {
  readonly facts: readonly (Fact | undefined)[];
  readonly list?: boolean;
}) {
  const given = facts.filter((fact) => fact !== undefined);
  return list ? (
    <dl className="facts list">
      {given.flatMap(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  ) : (
    <dl className="facts">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Tabs are links: which one is open is in the URL. */
export function Tabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly {
    readonly to: string;
    readonly text: string;
    readonly count?: number | undefined;
    /** The list that is counted beside the text. */
    readonly list?: ListId;
    readonly isOpen: boolean;
  }[];
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, text, count, list, isOpen }) => (
        <Link key={to} to={to} aria-current={isOpen ? 'page' : undefined} replace>
          {text}
          {count === undefined ? null : <small>{count}</small>}
          {list === undefined ? null : <Count list={list} />}
        </Link>
      ))}
    </nav>
  );
}

function Count({ list }: { readonly list: ListId }) {
  const { data } = useList(list);
  return data === undefined ? null : <small>{data.length}</small>;
}
