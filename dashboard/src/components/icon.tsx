import type { ReactNode } from 'react';

/** Drawn on a grid of 16; strokes take the colour of the text. */
const icons = {
  overview: (
    <>
      <rect x="2.5" y="2.5" width="4.5" height="6" rx="1" />
      <rect x="9" y="2.5" width="4.5" height="3.5" rx="1" />
      <rect x="9" y="8.5" width="4.5" height="5" rx="1" />
      <rect x="2.5" y="11" width="4.5" height="2.5" rx="1" />
    </>
  ),
  door: (
    <>
      <path d="M2.5 13.5V7a5.5 5.5 0 0 1 11 0v6.5" />
      <path d="M1.5 13.5h13M6 13.5V8.2a2 2 0 0 1 4 0v5.3" />
    </>
  ),
  traffic: <path d="M1.5 8.5h3l2-5 3 9 2-4h3" />,
  shield: <path d="M8 1.8 13 3.6v4c0 3.2-2 5.5-5 6.6-3-1.1-5-3.4-5-6.6v-4z" />,
  list: (
    <>
      <path d="M6 4h7.5M6 8h7.5M6 12h7.5" />
      <circle cx="2.8" cy="4" r=".8" />
      <circle cx="2.8" cy="8" r=".8" />
      <circle cx="2.8" cy="12" r=".8" />
    </>
  ),
  'sign-in': <path d="M9.5 2.5h3a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-3M7 5l3 3-3 3M10 8H2.5" />,
  left: <path d="M10 3.5 5.5 8l4.5 4.5" />,
  key: (
    <>
      <circle cx="5" cy="11" r="3" />
      <path d="m7.2 8.8 6-6M11 5l2 2" />
    </>
  ),
  bot: (
    <>
      <rect x="2.5" y="5.5" width="11" height="8" rx="2" />
      <path d="M8 5.5V2.5M6 9v1M10 9v1" />
    </>
  ),
  globe: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M2 8h12M8 2c2 1.8 2.8 3.8 2.8 6S10 12.2 8 14c-2-1.8-2.8-3.8-2.8-6S6 3.8 8 2z" />
    </>
  ),
  link: (
    <path d="M6.8 9.2 9.2 6.8M7.5 4.7l1.3-1.3a2.7 2.7 0 0 1 3.8 3.8l-1.3 1.300M8.5 11.3l-1.3 1.3a2.7 2.7 0 0 1-3.8-3.8l1.3-1.3" />
  ),
  vault: (
    <>
      <rect x="2" y="2.5" width="12" height="10.5" rx="1.5" />
      <circle cx="8" cy="7.8" r="2.5" />
      <path d="M8 5.3v-1M8 11.3v-1M10.5 7.8h1M4.5 7.8h1M4 13v1.200M12 13v1.2" />
    </>
  ),
  plug: <path d="M5.5 1.8v3M10.5 1.8v3M3.5 4.8h9v2.7a4.5 4.5 0 0 1-9 0zM8 12v2.5" />,
  server: (
    <>
      <rect x="2.5" y="2.5" width="11" height="4.5" rx="1" />
      <rect x="2.5" y="9" width="11" height="4.5" rx="1" />
      <path d="M5 4.8h.01M5 11.3h.01" />
    </>
  ),
  certificate: (
    <>
      <rect x="2" y="2.5" width="12" height="8" rx="1" />
      <circle cx="10.5" cy="10.5" r="2" />
      <path d="M9.5 12.2v2.3l1-.7 1 .7v-2.3M4.5 5.5h5M4.5 8h2" />
    </>
  ),
  tag: (
    <>
      <path d="M2.5 3.5a1 1 0 0 1 1-1h4L13.7 8.7a1 1 0 0 1 0 1.4l-3.6 3.6a1 1 0 0 1-1.4 0L2.5 7.5z" />
      <path d="M5.5 5.5h.01" />
    </>
  ),
  agent: (
    <>
      <rect x="1.8" y="3" width="12.4" height="10" rx="1.5" />
      <path d="m4.5 6.5 2 1.7-2 1.7M8.5 10.5h3" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.5V8l2.3 1.5" />
    </>
  ),
  bell: <path d="M8 1.8a4 4 0 0 0-4 4v3L2.6 11.500h10.800L12 8.800v-3a4 4 0 0 0-4-4zM6.500 13.800h3" />,
  book: (
    <path d="M8 4C6.5 2.8 4.5 2.5 2 2.5v10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v-10c-2.5 0-4.5.3-6 1.5zM8 4v10" />
  ),
  users: (
    <>
      <circle cx="6" cy="5.5" r="2.5" />
      <path d="M1.8 13.2c0-2.4 1.8-4 4.2-4s4.2 1.6 4.2 4M10.5 3.2a2.4 2.4 0 0 1 0 4.6M12 9.6c1.4.6 2.2 1.9 2.2 3.6" />
    </>
  ),
  theme: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5v11a5.5 5.5 0 0 0 0-11z" fill="currentColor" />
    </>
  ),
  'sign-out': <path d="M6.5 2.5h-3a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h3M10 5l3 3-3 3M13 8H6" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 3.5 3.5" />
    </>
  ),
  plus: <path d="M8 3v10M3 8h10" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
    </>
  ),
  download: <path d="M8 2.5V10M4.5 7 8 10.5 11.5 7M2.5 13.5h11" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  down: <path d="M3.5 6 8 10.5 12.5 6" />,
  up: <path d="M3.5 10 8 5.5 12.5 10" />,
  right: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 7.3V11M8 5h.01" />
    </>
  ),
  filter: <path d="M2 3.5h12M4.5 8h7M6.5 12.5h3" />,
  headers: (
    <>
      <path d="M2.5 4h11M2.5 8h7M2.5 12h4" />
      <path d="M12 9.5v4M10 11.5h4" />
    </>
  ),
  compress: <path d="M8 1.8v3M8 14.2v-3M5.8 3.2 8 5.4l2.2-2.2M5.8 12.8 8 10.6l2.2 2.2M3 8h10" />,
  trash: <path d="M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9" />,
  paste: (
    <>
      <rect x="3" y="3" width="10" height="11" rx="1.5" />
      <path d="M6 3a2 2 0 0 1 4 0M5.5 7.5h5M5.5 10.5h3" />
    </>
  ),
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  play: <path d="M5 3.5v9l7.5-4.5z" />,
  replay: <path d="M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.8v3h-3" />,
  check: <path d="m3 8.5 3.3 3.3L13 4.5" />,
  past: <path d="M2.6 6.2A5.8 5.8 0 1 1 2.2 8.6M2.2 3v3.400h3.400M8 5v3.200l2.200 1.400" />,
  edit: <path d="M3 13l.6-2.8 7.2-7.2 2.2 2.2-7.2 7.2zM9.5 4.3l2.2 2.2" />,
} as const satisfies Readonly<Record<string, ReactNode>>;

export type IconName = keyof typeof icons;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      {icons[name]}
    </svg>
  );
}

export function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M1.5 18V9.5a8.5 8.5 0 0 1 17 0V18h-4.2v-8a4.3 4.3 0 0 0-8.6 0v8z" fill="var(--text)" />
      <path d="M10 10.2V18" stroke="var(--accent-fill)" strokeWidth="2.2" strokeLinecap="round" />
    </svg>
  );
}
