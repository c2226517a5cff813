import { Fragment } from 'react';
import type { ReactNode } from 'react';

import type { Entry, ListId } from '../../../client/src/index.ts';
import { Button } from '../components/button.tsx';
import { ListRows } from '../components/list-rows.tsx';
import { PageHead, Tabs } from '../components/page.tsx';
import { LookOnly, useMayWrite } from '../components/rights.tsx';
import { useUrlState } from '../lib/url-state.ts';
import type { Listed, Resource } from './describe.ts';
import { CreateDialog } from './form.tsx';
import { ResourcePage } from './page.tsx';

/** The button that opens the form for a new thing. */
export function CreateButton({ children }: { readonly children: string }) {
  const [, setParams] = useUrlState();
  return (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setParams({ create: '1' })}>
      {children}
    </Button>
  );
}

/** Both pages of a resource: its list, with the form for a new one, and that of one of them. */
export function ResourcePages<Id extends ListId>({
  resource,
  id,
  title,
  lead,
  children,
}: {
  readonly resource: Resource<Id>;
  readonly id: string | undefined;
  readonly title: string;
  readonly lead: string;
  /** Stands below the list. */
  readonly children?: ReactNode;
}) {
  const { create, who } = resource;
  const [params] = useUrlState();
  const mayWrite = useMayWrite(who);
  if (id !== undefined) return <ResourcePage key={id} resource={resource} id={id} />;
  const action = mayWrite ? <CreateButton>{create.open ?? create.act}</CreateButton> : undefined;
  return (
    <>
      <PageHead title={title} lead={lead} actions={action} />
      <LookOnly what={resource.what ?? resource.noun[1]} who={who ?? 'everyone'} />
      <Rows listed={resource} action={action} />
      {params.has('create') && mayWrite ? <CreateDialog resource={resource} /> : null}
      {children}
    </>
  );
}

/** The rows of a list as it is described. */
export function Rows<Id extends ListId>({
  listed,
  action,
}: {
  readonly listed: Listed<Id> & Partial<Pick<Resource<Id>, 'path'>>;
  readonly action?: ReactNode;
}) {
  const {
    whenEmpty: [title, text],
    Rows: Described,
    path,
    hrefOf = path === undefined ? undefined : (row: Entry<Id>) => `${path}/${keyOf(row)}`,
    ...words
  } = listed;
  return (
    <Described
      render={(rows) => (
        <ListRows
          {...words}
          {...rows}
          {...(hrefOf === undefined ? {} : { hrefOf })}
          keyOf={keyOf}
          whenEmpty={{ title, text, action }}
        />
      )}
    />
  );
}

/** Entries of every list have an id. */
function keyOf(row: unknown): string {
  return (row as { readonly id: string }).id;
}

/** One of several lists of a page. */
interface Tab {
  /** In the URL under the name of the parameter; undefined for the first. */
  readonly value?: string;
  readonly text: string;
  /** How many there are: of a list, or as counted. */
  readonly list?: ListId;
  readonly count?: number | undefined;
  readonly rows: ReactNode;
}

/** A page of several lists, of which the URL names one. */
export function ListTabs({
  title,
  lead,
  action,
  what,
  label,
  path,
  param = 'kind',
  open,
  tabs,
}: {
  readonly title: string;
  readonly lead: string;
  readonly action?: string | undefined;
  readonly what?: string;
  /** Name of the tabs: "Kinds of backends". */
  readonly label: string;
  readonly path: string;
  readonly param?: string;
  readonly open: string | undefined;
  readonly tabs: readonly Tab[];
}) {
  const mayWrite = useMayWrite();
  const shown = tabs.find(({ value }) => value === open) ?? tabs[0];
  return (
    <>
      <PageHead
        title={title}
        lead={lead}
        actions={mayWrite && action !== undefined ? <CreateButton>{action}</CreateButton> : undefined}
      />
      {what === undefined ? null : <LookOnly what={what} />}
      <Tabs
        label={label}
        tabs={tabs.map(({ value, text, list, count }) => ({
          text,
          count,
          ...(list === undefined ? {} : { list }),
          to: value === undefined ? path : `${path}?${param}=${value}`,
          isOpen: value === shown?.value,
        }))}
      />
      <Fragment key={shown?.value ?? ''}>{shown?.rows}</Fragment>
    </>
  );
}
