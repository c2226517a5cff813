import type { PageProps } from '../../components/page.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { people } from './people.tsx';
import { Person } from './person.tsx';
import { sessions } from './sessions.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <Lists /> : <Person key={id} id={id} />;
}

function Lists() {
  const [params] = useUrlState();
  return (
    <ListTabs
      title="Visitors"
      lead="People who signed in at a route."
      label="Visitors"
      what="visitors"
      path="/visitors"
      param="tab"
      open={params.get('tab') ?? undefined}
      tabs={[
        { text: 'Sessions', list: 'ApplicationSessionsList', rows: <Rows listed={sessions} /> },
        { value: 'people', text: 'People', list: 'ApplicationUsersList', rows: <Rows listed={people} /> },
      ]}
    />
  );
}
