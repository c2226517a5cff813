import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';

import type { ListId } from '../../../client/src/index.ts';
import { readList } from '../api/queries.ts';
import { Modal } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import type { IconName } from '../components/icon.tsx';
import { looksLikeAddress } from '../lib/address.ts';
import { shortId } from '../lib/text.ts';
import { pages } from './pages.ts';

interface Hit {
  readonly to: string;
  readonly icon: IconName;
  readonly text: string;
  readonly note: string;
}

const mostHits = 12;

/** Search or jump: a page, a thing by its name, an id, an address. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  const hits = useHits(text.trim());
  const chosen = Math.min(index, hits.length - 1);
  const open = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    onClose();
    navigate(hit.to);
  };
  return (
    <Modal label="Search or jump to" className="modal high" onClose={onClose}>
      <div className="dialog palette">
        <input
          className="input"
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-hits"
          aria-activedescendant={hits.length === 0 ? undefined : `palette-${chosen}`}
          aria-label="Search, id or address"
          placeholder="Search, id or address"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setIndex(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') open(hits[chosen]);
            else if (event.key === 'ArrowDown') setIndex(Math.min(chosen + 1, hits.length - 1));
            else if (event.key === 'ArrowUp') setIndex(Math.max(chosen - 1, 0));
            else return;
            event.preventDefault();
          }}
        />
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- a combobox: the field keeps the focus */}
        <ul className="list" id="palette-hits" role="listbox" aria-label="Found">
          {hits.map((hit, position) => (
            <li key={`${hit.to} ${hit.text}`} role="presentation">
              <button
                type="button"
                role="option"
                id={`palette-${position}`}
                aria-selected={position === chosen}
                tabIndex={-1}
                onClick={() => open(hit)}
              >
                <Icon name={hit.icon} />
                <span className="grow">{hit.text}</span>
                <span className="muted">{hit.note}</span>
              </button>
            </li>
          ))}
          {hits.length === 0 ? (
            <li role="presentation" className="empty">
              Nothing found among the names that were read
            </li>
          ) : null}
        </ul>
      </div>
    </Modal>
  );
}

/** Reads the lists that are searched; rows by list, as they come. */
function useNamed(): ReadonlyMap<ListId, readonly Named[]> {
  const [named, setNamed] = useState<ReadonlyMap<ListId, readonly Named[]>>(new Map());
  useEffect(() => {
    for (const { list } of pages) {
      if (list === undefined) continue;
      // The page of a list that cannot be read says why.
      readList(list).then(
        (rows) => setNamed((before) => new Map([...before, [list, rows]])),
        () => undefined,
      );
    }
  }, []);
  return named;
}

function useHits(text: string): readonly Hit[] {
  const named = useNamed();
  return useMemo(() => {
    if (text === '') return pages.map((page) => hitOfPage(page));
    const lower = text.toLowerCase();
    const direct = [...addressHits(text), ...idHits(text)];
    const found = pages.flatMap((page) => {
      const rows = page.list === undefined ? [] : (named.get(page.list) ?? []);
      return rows
        .filter((row) => wordsOf(row).some((words) => words.toLowerCase().includes(lower)))
        .map((row): Hit => ({
          to: `/${page.path}/${row.id}`,
          icon: page.icon,
          text: wordsOf(row)[0] ?? row.id,
          note: shortId(row.id),
        }));
    });
    const titled = pages.filter(({ title }) => title.toLowerCase().includes(lower)).map((page) => hitOfPage(page));
    return [...direct, ...titled, ...found].slice(0, mostHits);
  }, [text, named]);
}

/** The fields by which people call a thing. */
interface Named {
  readonly id: string;
  readonly description?: string;
  readonly name?: string;
  /** The name itself, or a reference to its reservation. */
  readonly domain?: string | object;
  readonly public_url?: string;
  readonly address?: string;
  readonly hostports?: readonly string[] | null;
  /** Type of an IP restriction. */
  readonly type?: string;
}

function wordsOf({ id, description, name, domain, public_url: url, address, hostports, type }: Named): string[] {
  const restriction = id.startsWith('ipx_') && type !== undefined ? `${type} restriction` : undefined;
  const given = [url, description, name, domain, address, ...(hostports ?? []), restriction, id];
  return given.filter((words): words is string => typeof words === 'string' && words !== '');
}

function hitOfPage({ path, title, icon, shortcut }: (typeof pages)[number]): Hit {
  return { to: `/${path}`, icon, text: title, note: shortcut === undefined ? '' : `g ${shortcut}` };
}

function addressHits(text: string): Hit[] {
  if (!looksLikeAddress(text)) return [];
  const ip = encodeURIComponent(text.split('/')[0] ?? text);
  return [
    { to: `/who-gets-in?ip=${ip}`, icon: 'door', text: `Who gets in: ${text}`, note: '' },
    { to: `/traffic?q=${ip}`, icon: 'traffic', text: 'Its requests, live', note: '' },
    { to: `/requests?source=${encodeURIComponent(text)}`, icon: 'past', text: 'Its past requests', note: '' },
  ];
}

function idHits(text: string): Hit[] {
  const page = pages.find(({ idPrefixes = [] }) => idPrefixes.some((prefix) => text.startsWith(prefix)));
  return page === undefined
    ? []
    : [{ to: `/${page.path}/${text}`, icon: page.icon, text: `Open ${shortId(text)}`, note: page.title }];
}
