import type { ReactNode } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import type { Read } from '../api/queries.ts';
import { ButtonLink } from './button.tsx';
import { Empty, ErrorState, Skeleton } from './states.tsx';

/** The states of a page about one thing: loading, failed, gone, there. */
export function Detail<Value>({
  read,
  noun,
  listPath,
  children,
}: {
  readonly read: Read<Value>;
  /** Such as "key". */
  readonly noun: string;
  /** Where all of them are. */
  readonly listPath: string;
  readonly children: (value: Value) => ReactNode;
}) {
  const { data, error, retry } = read;
  if (data !== undefined) return children(data);
  if (error === undefined) return <Skeleton lines={4} />;
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <section className="panel">
      {isGone ? (
        <Empty
          isPage
          icon="search"
          title={`This ${noun} does not exist`}
          action={<ButtonLink to={listPath}>Show all</ButtonLink>}
        >
          It may have been deleted since the link was made.
        </Empty>
      ) : (
        <ErrorState isPage title={`The ${noun} could not be read`} error={error} onRetry={retry} />
      )}
    </section>
  );
}
