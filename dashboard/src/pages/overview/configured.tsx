import { Link } from 'wouter';

import type { ListId } from '../../../../client/src/index.ts';
import { useTotal } from '../../api/totals.ts';
import { Panel } from '../../components/page.tsx';
import type { PageProps } from '../../components/page.tsx';

/** How many there are of each thing. */
export function Configured({ pages }: Pick<PageProps, 'pages'>) {
  return (
    <Panel title="Configured">
      <dl className="facts three">
        {pages.map(({ path, title, list }) =>
          list === undefined ? null : (
            <div key={path}>
              <dt>{title}</dt>
              <dd>
                <Link className="figure" to={`/${path}`}>
                  <Total list={list} />
                </Link>
              </dd>
            </div>
          ),
        )}
      </dl>
    </Panel>
  );
}

function Total({ list }: { readonly list: ListId }) {
  return useTotal(list) ?? '–';
}
