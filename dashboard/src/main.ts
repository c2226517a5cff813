import { sendEarly } from './api/early-calls.ts';
import { firstCallOf, loadPage, pageOfUrl } from './app/pages.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/app.css';
import './styles/access.css';
import './styles/edges.css';
import './styles/moment.css';
import './styles/pictures.css';

// The script is the first and smallest: what the first view needs from the server is asked for before the large ones run.
sendEarly('/dashboard/session');
const firstCall = firstCallOf(location);
if (firstCall !== undefined) sendEarly(firstCall);
const page = pageOfUrl(location);
// A page that cannot be loaded is reported by the shell, which tries again; without the shell, index.html says so.
const isLoaded = page === undefined ? undefined : loadPage(page).catch(() => undefined);
const { start } = await import('./app/app.tsx');
await isLoaded;
start(firstCall === undefined ? undefined : page?.list);
