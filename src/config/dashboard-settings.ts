import { optional, readChoice, readWholeNumber } from './values.ts';

/** Settings of the dashboard, in the order of the help. */
export const dashboardSettings = {
  dashboardFiles: {
    form: 'folder',
    help: 'folder of a built dashboard to serve instead of the one that comes with Gatehouse',
    fallback: '',
    read: optional(String),
  },
  dashboardSessionSeconds: {
    form: 'seconds',
    help: 'how long after the sign-in a session of the dashboard ends',
    fallback: '43200',
    read: readWholeNumber(1, 2_592_000),
  },
  dashboardIdleSeconds: {
    form: 'seconds',
    help: 'how long a session of the dashboard may be unused before it ends',
    fallback: '3600',
    read: readWholeNumber(1, 2_592_000),
  },
  dashboardSessions: {
    form: 'count',
    help: 'sessions of the dashboard for each user or bot; a further sign-in ends the one that was unused for the longest time',
    fallback: '100',
    read: readWholeNumber(1, 10_000),
  },
  dashboardTokenSignIn: {
    form: 'on|off',
    help: 'let people sign in to the dashboard with the token of an API key: "on" or "off"; "off" needs an identity provider',
    fallback: 'on',
    read: readChoice(['on', 'off']),
  },
  trafficStreams: {
    form: 'count',
    help: 'streams of live traffic that each account may have open at once, in each API process',
    fallback: '8',
    read: readWholeNumber(1, 1_000),
  },
} as const;
