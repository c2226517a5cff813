import { useMemo, useState } from 'react';
import { Link } from 'wouter';

import { ButtonLink } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { DiffLines } from '../../components/diff.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import type { Fact, PageProps } from '../../components/page.tsx';
import { Empty } from '../../components/states.tsx';
import { WindowedTable } from '../../components/windowed-table.tsx';
import type { WindowColumn } from '../../components/windowed-table.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { yamlLines } from '../../lib/yaml-lines.ts';
import { isShownOn, kindOf, namesIn, untold } from './kinds.ts';
import type { PastEntry } from './kinds.ts';
import type { Past } from './past.ts';
import { momentWords } from './words.ts';

type PageLink = PageProps['pages'][number];

/** How many there were of each thing. */
export function Counts({ past, pages }: { readonly past: Past } & Pick<PageProps, 'pages'>) {
  const count = (path: string): number => past.entries.filter(({ kind }) => kindOf(kind).page === path).length;
  return (
    <>
      <PageHead
        title={`Configured at ${momentWords(past.at, past.moment)}`}
        lead="Traffic, gateways and what needs a person are known for now alone."
        actions={<ButtonLink to="/changes">Compare with now</ButtonLink>}
      />
      <Panel>
        <dl className="facts three">
          {pages
            .filter(({ path }) => isShownOn(path) && path !== 'certificates')
            .map(({ path, title }) => (
              <div key={path}>
                <dt>{title}</dt>
                <dd>
                  <Link className="figure" to={`/${path}`}>
                    {formatNumber(count(path))}
                  </Link>
                </dd>
              </div>
            ))}
        </dl>
      </Panel>
    </>
  );
}

const columns: readonly WindowColumn<PastEntry>[] = [
  {
    id: 'name',
    head: 'Name',
    width: '50%',
    cell: (entry) => (
      <Link className="main" to={`/${kindOf(entry.kind).page}/${entry.id}`} data-row-link>
        {entry.name}
      </Link>
    ),
  },
  { id: 'kind', head: 'Kind', width: '20%', className: 'p2', cell: ({ kind }) => kindOf(kind).noun },
  { id: 'what', head: 'What', cell: ({ fields }) => <span className="soft">{aboutOf(fields)}</span> },
];

/** Tells one from another: the description, or where it is reached. */
function aboutOf(fields: PastEntry['fields']): string {
  const given = ['description', 'url', 'domain', 'address', 'hostports', 'labels', 'type', 'port', 'vault']
    .map((field) => fields[field])
    .find((value) => value !== undefined && value !== '');
  return given === undefined
    ? ''
    : yamlLines(given)
        .join(', ')
        .replaceAll(/^- |(?<=, )- /g, '');
}

/** A list of the side bar as it was. */
export function PastList({ past, page }: { readonly past: Past; readonly page: PageLink }) {
  const rows = useMemo(
    () => past.entries.filter(({ kind }) => kindOf(kind).page === page.path),
    [past.entries, page.path],
  );
  const lead = untold[page.path];
  return (
    <>
      <PageHead title={page.title} lead={lead ?? `As they were at ${momentWords(past.at, past.moment)}.`} />
      <Panel flush>
        {rows.length === 0 ? (
          <Empty icon="clock" title="There was none then" />
        ) : (
          <WindowedTable
            label={page.title}
            columns={columns}
            rows={rows}
            rowCount={rows.length}
            keyOf={({ id }) => id}
          />
        )}
      </Panel>
    </>
  );
}

/** One thing as it was. */
export function PastThing({ past, page, id }: { readonly past: Past; readonly page: PageLink; readonly id: string }) {
  const entry = past.entries.find((each) => each.id === id);
  if (entry === undefined)
    return (
      <Panel>
        <Empty
          isPage
          icon="clock"
          title="This did not exist then"
          action={<ButtonLink to={`/${page.path}`}>See what did</ButtonLink>}
        >
          At {momentWords(past.at, past.moment)}, the configuration had nothing with the id <code>{id}</code>.
        </Empty>
      </Panel>
    );
  const { kind, name, fields } = entry;
  const { rules, ...others } = fields;
  const used = namesIn(others).flatMap(([scope, each]) =>
    past.entries.filter((other) => other.name === each && kindOf(other.kind).scope === scope),
  );
  const facts: readonly (Fact | undefined)[] = [
    ['Kind', kindOf(kind).noun],
    ['Id', <Id key="id" id={id} />],
    used.length === 0
      ? undefined
      : [
          'Uses',
          <span key="uses" className="row wrap">
            {[...new Set(used)].map((other) => (
              <Link key={other.id} to={`/${kindOf(other.kind).page}/${other.id}`}>
                {other.name}
              </Link>
            ))}
          </span>,
        ],
  ];
  return (
    <>
      <PageHead title={name} lead={`The ${kindOf(kind).noun} as it was at ${momentWords(past.at, past.moment)}.`} />
      <Panel>
        <Facts facts={facts} />
      </Panel>
      <Panel title="Fields" note="as files have them; secrets are left out" flush>
        {Object.keys(others).length === 0 ? (
          <div className="pad muted">All have their defaults.</div>
        ) : (
          <DiffLines
            label={`Fields of ${name}`}
            lines={yamlLines(others).map((text) => ({ kind: 'same' as const, text }))}
          />
        )}
      </Panel>
      {Array.isArray(rules) ? <Rules rules={rules} /> : null}
    </>
  );
}

interface RuleRow {
  readonly cidr: string;
  readonly action: string;
  readonly description: string;
}

const ruleColumns: readonly WindowColumn<RuleRow>[] = [
  { id: 'cidr', head: 'Addresses', width: '45%', cell: ({ cidr }) => <code>{cidr}</code> },
  { id: 'action', head: 'Rule', width: '20%', cell: ({ action }) => action },
  { id: 'description', head: 'Description', cell: ({ description }) => <span className="soft">{description}</span> },
];

function Rules({ rules }: { readonly rules: readonly unknown[] }) {
  const [seen, setSeen] = useState('');
  const rows = useMemo(() => rules.map(rowOf), [rules]);
  return (
    <Panel title="Rules" note={countOf(rows.length, 'rule', 'rules')} flush footer={<span role="status">{seen}</span>}>
      {rows.length === 0 ? (
        <Empty icon="list" title="It had no rule" />
      ) : (
        <WindowedTable
          label="Rules"
          columns={ruleColumns}
          rows={rows}
          rowCount={rows.length}
          keyOf={({ cidr }) => cidr}
          onSeen={(first, last, count) =>
            setSeen(`Rows ${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(count)}`)
          }
        />
      )}
    </Panel>
  );
}

function rowOf(rule: unknown): RuleRow {
  // The form in which entries have rules.
  const entry = rule as string | { readonly cidr: string; readonly action?: string; readonly description?: string };
  if (typeof entry === 'string')
    return { cidr: entry.replace(/^!/, ''), action: entry.startsWith('!') ? 'Deny' : 'Allow', description: '' };
  return { cidr: entry.cidr, action: entry.action === 'deny' ? 'Deny' : 'Allow', description: entry.description ?? '' };
}
