import { useCallback, useEffect, useRef, useState } from 'react';
import type { ComponentType } from 'react';

import { noteNoAnswer, useLost } from '../api/connection.ts';
import { askBuild } from '../api/server-build.ts';
import { firstVersion, rereadSession, useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { CannotLoad } from '../components/cannot-load.tsx';
import type { PageProps } from '../components/page.tsx';
import { Skeleton } from '../components/states.tsx';
import { loadedPage, loadPage, pages } from './pages.ts';
import type { PageEntry } from './pages.ts';

/** Why the code of a page is not there. `missing`: the server has the build of this tab, and does not send the file. */
type Failure = 'no answer' | 'updated' | 'missing';

async function tryToLoad(entry: PageEntry): Promise<ComponentType<PageProps> | Failure> {
  try {
    return await loadPage(entry);
  } catch {
    const build = await askBuild();
    if (build === 'no answer') await noteNoAnswer();
    return build === 'no answer' ? build : build === 'same' ? 'missing' : 'updated';
  }
}

/** A page, as soon as its code is there. */
export function PageCode({ entry, id }: Pick<PageProps, 'id'> & { readonly entry: PageEntry }) {
  const [Page, setPage] = useState(() => loadedPage(entry));
  const [failure, setFailure] = useState<Failure>();
  const wasLost = useRef(false);
  const settle = useCallback((outcome: ComponentType<PageProps> | Failure): void => {
    if (typeof outcome !== 'string') {
      setPage(() => outcome);
      return;
    }
    // A browser may keep a failed import for as long as the tab is open. Nothing was typed on a page that is not there.
    if (outcome === 'missing' && wasLost.current) location.reload();
    if (outcome === 'no answer') wasLost.current = true;
    setFailure(outcome);
  }, []);
  const load = useCallback(() => void tryToLoad(entry).then(settle), [entry, settle]);
  const isLoaded = Page !== undefined;
  useEffect(() => {
    if (!isLoaded) load();
  }, [isLoaded, load]);
  if (Page !== undefined) return <Page id={id} pages={pages} />;
  if (failure === undefined) return <Skeleton lines={4} />;
  if (failure === 'no answer') return <NoAnswer title={entry.title} onRetry={load} />;
  return failure === 'updated' ? <Updated /> : <Missing title={entry.title} />;
}

/** The whole page says that the server does not answer, and goes on trying. */
function NoAnswer({ title, onRetry }: { readonly title: string; readonly onRetry: () => void }) {
  const isBack = useLost() === undefined;
  useEffect(() => {
    if (isBack) onRetry();
  }, [isBack, onRetry]);
  return (
    <CannotLoad
      icon="server"
      title={`${title}: cannot be shown yet`}
      fine={
        <>
          On the machine, look with <code>gatehouse doctor</code>.
        </>
      }
    >
      The code of this page was not loaded before. It appears by itself as soon as the server is back.
    </CannotLoad>
  );
}

/** The server has other code than this tab. */
function Updated() {
  const { version } = useSession();
  useEffect(() => {
    void rereadSession();
  }, []);
  return (
    <CannotLoad icon="replay" title="Gatehouse was updated" actions={<ReloadButton />}>
      {version === firstVersion()
        ? 'The server has newer code than this tab. '
        : `This tab is of version ${firstVersion()}, the server runs ${version}. `}
      Reload opens the same page.
    </CannotLoad>
  );
}

function Missing({ title }: { readonly title: string }) {
  return (
    <CannotLoad
      icon="replay"
      title={`${title}: its code is missing`}
      actions={<ReloadButton />}
      fine={
        <>
          If it is still missing then, files of the installation are gone: put them back with{' '}
          <code>npm run build:dashboard</code>, or install the package again.
        </>
      }
    >
      The server answers, but did not send the code of this page. Reload opens the same page.
    </CannotLoad>
  );
}

function ReloadButton() {
  return (
    <Button look="primary" startsFocused onClick={() => location.reload()}>
      Reload
    </Button>
  );
}
