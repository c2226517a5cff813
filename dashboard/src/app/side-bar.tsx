import { useState } from 'react';
import { Link } from 'wouter';

import { useLost } from '../api/connection.ts';
import { isBehind, useGateways } from '../api/installation.ts';

import { signOut, useSession } from '../api/session.ts';
import { useTotal } from '../api/totals.ts';
import type { ListId } from '../../../client/src/index.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Icon, Logo } from '../components/icon.tsx';
import { Glyph } from '../components/verdict.tsx';
import { useHasSettled } from '../lib/settled.ts';
import { formatNumber } from '../lib/text.ts';
import { formatClock } from '../lib/time.ts';
import { groups, loadPage, pages } from './pages.ts';
import type { PageEntry } from './pages.ts';
import { Attention } from './attention.tsx';
import { useTheme } from './theme.ts';

export function SideBar({
  current,
  isPast,
}: {
  readonly current: PageEntry | undefined;
  /** An earlier moment is shown: counts are of now, and left out. */
  readonly isPast: boolean;
}) {
  return (
    <aside className="side" aria-label="Side bar">
      <Link className="brand" to="/">
        <Logo />
        Gatehouse
      </Link>
      <nav className="nav" aria-label="Main">
        {groups.map((group) => (
          <div key={group}>
            {group === 'top' ? null : <h3>{group}</h3>}
            <ul>
              {pages
                .filter((page) => page.group === group)
                .map((page) => (
                  <li key={page.path}>
                    <Link
                      to={`/${page.path}`}
                      aria-current={page === current ? 'page' : undefined}
                      onPointerEnter={() => void loadPage(page).catch(() => undefined)}
                    >
                      <Icon name={page.icon} />
                      {page.title}
                      {page.list === undefined || isPast ? null : <Count list={page.list} page={page.path} />}
                    </Link>
                  </li>
                ))}
              {group === 'Record' ? (
                <li>
                  <a href="/docs">
                    <Icon name="book" />
                    API reference
                  </a>
                </li>
              ) : null}
            </ul>
          </div>
        ))}
      </nav>
      <Foot />
    </aside>
  );
}

/** How many there are; a triangle with a count takes its place where something needs a person. */
function Count({ list, page }: { readonly list: ListId; readonly page: string }) {
  const total = useTotal(list, { enabled: useHasSettled() });
  if (total === undefined || total === '0') return null;
  return (
    <Attention page={page}>
      <span className="count">{total}</span>
    </Attention>
  );
}

const themeWords = { system: 'as the system', light: 'light', dark: 'dark' } as const;

function Foot() {
  const hasSettled = useHasSettled();
  const { principal, role, read_only: isReadOnly } = useSession();
  const [theme, toNextTheme] = useTheme();
  const [isLeaving, setLeaving] = useState(false);
  const words = isReadOnly && role !== 'viewer' ? 'reads only' : principal.kind === 'bot' ? 'bot' : role;
  return (
    <div className="side-foot">
      {hasSettled ? <ServiceState /> : null}
      <span className="row">
        <Link
          className="grow soft"
          to={`/${principal.kind === 'bot' ? 'bot-users' : 'users'}/${principal.id}`}
          title="Your profile"
        >
          {principal.name} · {words}
        </Link>
        <button
          type="button"
          className="copy"
          aria-label={`Theme: ${themeWords[theme]}. Change it`}
          onClick={toNextTheme}
        >
          <Icon name="theme" />
        </button>
        <button type="button" className="copy" aria-label="Sign out" onClick={() => setLeaving(true)}>
          <Icon name="sign-out" />
        </button>
      </span>
      {isLeaving ? <SignOutDialog onClose={() => setLeaving(false)} /> : null}
    </div>
  );
}

/** Version of the configuration, and how many gateways have it. */
function ServiceState() {
  const state = useGateways();
  const lost = useLost();
  if (lost !== undefined)
    return (
      <span className="row">
        <Glyph tone="off" />
        <span>Unknown since {formatClock(lost.sinceMs)}</span>
      </span>
    );
  if (state === undefined || state.gateways.length === 0) return null;
  const { gateways, version } = state;
  const current = gateways.filter((gateway) => !isBehind(gateway)).length;
  return (
    <span className="row">
      <Glyph tone={current === gateways.length ? 'allow' : 'warn'} />
      <span>
        Config {formatNumber(version)} · {current} of {gateways.length} live
      </span>
    </span>
  );
}

function SignOutDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog
      title="Sign out?"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Stay</Button>
          <Button onClick={() => void signOut('everywhere')}>Sign out everywhere</Button>
          <Button look="primary" startsFocused onClick={() => void signOut('here')}>
            Sign out here
          </Button>
        </>
      }
    >
      <p>Everywhere ends all your dashboard sessions, on every machine. API keys go on working.</p>
    </Dialog>
  );
}
