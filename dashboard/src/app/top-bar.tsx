import { Link } from 'wouter';

import { useOne } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { useHasSettled } from '../lib/settled.ts';
import { Icon } from '../components/icon.tsx';
import { Glyph } from '../components/verdict.tsx';
import type { Tone } from '../components/verdict.tsx';
import type { PageEntry } from './pages.ts';

export function TopBar({
  page,
  crumb,
  onMenu,
  onSearch,
}: {
  readonly page: PageEntry | undefined;
  readonly crumb: string | undefined;
  readonly onMenu: () => void;
  readonly onSearch: () => void;
}) {
  return (
    <header className="top">
      <button type="button" className="btn ghost icon-only burger" aria-label="Menu" onClick={onMenu}>
        <Icon name="menu" />
      </button>
      <nav className="crumbs" aria-label="Where you are">
        {crumb === undefined ? (
          <b>{page?.title ?? 'Not found'}</b>
        ) : (
          <>
            <Link to={`/${page?.path ?? ''}`}>{page?.title}</Link>
            <span aria-hidden="true">/</span>
            <b>{crumb}</b>
          </>
        )}
      </nav>
      <button
        type="button"
        className="find"
        aria-label="Search, id or address"
        aria-keyshortcuts="/"
        onClick={onSearch}
      >
        <Icon name="search" />
        <span>Search, id or address</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <You />
    </header>
  );
}

const verdictWords: Readonly<Record<Exclude<Tone, 'ask'>, string>> = {
  allow: 'It is let into the dashboard.',
  warn: 'It is let into the dashboard, and a restriction that only warns would refuse it.',
  deny: 'It is refused by the dashboard.',
  off: 'No restriction guards the dashboard.',
};

/** The address that the server sees, with its verdict for the dashboard. */
function You() {
  const { address } = useSession();
  const check = useOne('IpCheck', { body: { ip: address, type: 'dashboard' } }, { enabled: useHasSettled() });
  const verdict = check.data?.document;
  const tone =
    verdict === undefined || verdict.checks.length === 0
      ? 'off'
      : !verdict.allowed
        ? 'deny'
        : verdict.allowed_if_all_enforced
          ? 'allow'
          : 'warn';
  return (
    <Link
      className="you"
      to={`/who-gets-in?ip=${encodeURIComponent(address)}`}
      title={`The address Gatehouse sees you come from. ${verdict === undefined ? '' : verdictWords[tone]}`}
    >
      <Glyph tone={tone} />
      <span className="p2">You</span>
      <span className="vh">come from</span>
      <code>{address}</code>
      <span className="vh">{verdict === undefined ? '' : verdictWords[tone]}</span>
    </Link>
  );
}
