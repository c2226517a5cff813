import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import type { ListId } from '../../../client/src/index.ts';
import { prefetchList } from '../api/queries.ts';
import { App } from './app.tsx';
import { applyTheme, storedTheme } from './theme.ts';

/** Shows the page. The rows of its list are likely to be there already, because the first script has asked for them. */
export function start(list: ListId | undefined): void {
  if (list !== undefined) prefetchList(list);
  applyTheme(storedTheme());
  const root = document.querySelector('#root');
  if (root === null) throw new Error('The page has no element with the id root.');
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
