import type { AppUser } from '../../../../client/src/index.ts';
import { useList, useOne } from '../../api/queries.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { useCrumb } from '../../components/crumb.tsx';
import { Detail } from '../../components/detail.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { Strange } from '../../components/strange.tsx';
import { Time } from '../../components/time.tsx';
import { visible } from '../../lib/strangers.ts';
import { countOf } from '../../lib/text.ts';
import { pastRequests } from '../../parts/past-requests.ts';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { RefusedLately } from '../../parts/refused-lately.tsx';
import { EndButton } from './end-button.tsx';
import { decidedAs, whoIs } from './who.ts';

/** Somebody who has signed in, and the requests since then. */
export function Person({ id }: { readonly id: string }) {
  const read = useOne('ApplicationUsersGet', { path: { id } });
  return (
    <Detail read={read} noun="person" listPath="/visitors?tab=people">
      {({ document }) => <Shown user={document} />}
    </Detail>
  );
}

function Shown({ user }: { readonly user: AppUser }) {
  const person = decidedAs(user);
  const name = visible(whoIs(user));
  const { data: sessions } = useList('ApplicationSessionsList');
  const own = sessions?.filter(({ application_user: of }) => of.id === user.id).length;
  useCrumb(name);
  return (
    <>
      <PageHead
        title={name}
        actions={
          <>
            <RefusedLately of={{ person }} />
            <ButtonLink to={pastRequests({ person })}>Past requests</ButtonLink>
            <EndButton
              operation="ApplicationUsersDelete"
              id={user.id}
              what={`all sessions of ${name}`}
              words="End all sessions"
              isSmall={false}
            />
          </>
        }
      />
      <Panel>
        <Facts
          facts={[
            user.name === '' ? undefined : ['Name', <Strange key="name" text={user.name} />],
            ['Provider', user.identity_provider.url.replace('https://', '')],
            ['Known there as', <Strange key="known" isMono text={user.provider_user_id} />],
            ['Signed in first', <Time key="first" at={user.created_at} />],
            ['Signed in last', <Time key="last" at={user.last_login} />],
            own === undefined ? undefined : ['Signed in now', own === 0 ? 'No' : countOf(own, 'session', 'sessions')],
            ['Id', <Id key="id" id={user.id} />],
          ]}
        />
      </Panel>
      <Pictures
        of={{ person }}
        title="Requests while signed in"
        note="Requests before the sign-in, and those to routes without one, are not among them. They are counted one by one, so that what is usual is not known."
      />
    </>
  );
}
