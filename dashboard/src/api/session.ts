import { useSyncExternalStore } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import type { ErrorBody } from '../../../client/src/index.ts';
import { fetchFromServer } from './connection.ts';
import { callHeaders, keepSecret, takeEarly } from './early-calls.ts';

/** The person who is signed in, as the server sees them. */
export interface SessionFacts {
  readonly principal: { readonly id: string; readonly kind: 'user' | 'bot'; readonly name: string };
  /** Users of the account, by which owners are named. */
  readonly users: readonly { readonly id: string; readonly name: string }[];
  readonly account_id: string;
  /** The key that the session was begun with; absent for one that was begun at a provider. */
  readonly api_key?: { readonly id: string; readonly description?: string };
  /** The name of the identity provider that the session was begun at. */
  readonly provider?: string;
  readonly role: 'admin' | 'member' | 'viewer';
  /** The key, or its owner, may only read. */
  readonly read_only: boolean;
  readonly address: string;
  readonly expires_at: string;
  readonly idle_seconds: number;
  /** Dashboard restrictions that only warn and would refuse this address. */
  readonly would_be_refused_by: readonly { readonly id: string; readonly description?: string }[];
  readonly version: string;
}

/**
 * `over`: there was a session; the page stays, unseen, until somebody signs in again. `ended`: whoever had it has no access any
 * more, and nothing stays.
 */
export type SessionState =
  | { readonly kind: 'unknown' }
  /** `signOutUrl`: where the person who has just signed out can do so at the provider too. */
  | { readonly kind: 'none'; readonly signOutUrl?: string | undefined }
  | { readonly kind: 'open'; readonly facts: SessionFacts }
  | { readonly kind: 'over'; readonly facts: SessionFacts; readonly reason: string | undefined }
  | { readonly kind: 'ended' };

let state: SessionState = { kind: 'unknown' };
const listeners = new Set<() => void>();

/** The version of the server when this tab was loaded. */
let versionThen: string | undefined;

export function firstVersion(): string | undefined {
  return versionThen;
}

function setState(next: SessionState): void {
  state = next;
  if (next.kind === 'open') versionThen ??= next.facts.version;
  for (const listener of listeners) listener();
}

export function useSessionState(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Facts of the session that is open, or was until a moment ago. Only for components below the shell. */
export function useSession(): SessionFacts {
  const current = useSessionState();
  if (current.kind === 'open' || current.kind === 'over') return current.facts;
  throw new Error('There is no session.');
}

/** Numbers of errors. */
const addressRefused = 220;
const ownerDeactivated = 636;

/** Looks whether an error says that the session counts for nothing any more. */
export function noteRefusal({ status, number, message }: ApiError): void {
  if (status === 401) sessionIsOver();
  else if (number === ownerDeactivated) accessHasEnded();
  else if (number === addressRefused) sessionIsOver(message);
}

function sessionIsOver(reason?: string): void {
  if (state.kind === 'open') setState({ kind: 'over', facts: state.facts, reason });
}

function accessHasEnded(): void {
  keepSecret(undefined);
  if (state.kind !== 'none') setState({ kind: 'ended' });
}

export async function readSession(): Promise<void> {
  try {
    setState({ kind: 'open', facts: (await callSession('GET', '/dashboard/session')) as SessionFacts });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    noteRefusal(error);
    if (state.kind === 'open') sessionIsOver(error.message);
    else if (state.kind === 'unknown') setState({ kind: 'none' });
  }
}

/** Reads the session again beside other work: without an answer, what is known stays. */
export async function rereadSession(): Promise<void> {
  await readSession().catch(() => undefined);
}

/** Returns whether somebody else is signed in now than before. */
export async function signIn(token: string): Promise<boolean> {
  const before = state.kind === 'over' ? state.facts.principal.id : undefined;
  // The seam between server and dashboard: the answer has the session's facts, and this once its secret.
  const facts = openSession(await callSession('POST', '/dashboard/session', { token }));
  return before !== facts.principal.id;
}

function openSession(answer: unknown): SessionFacts {
  const { secret, ...facts } = answer as SessionFacts & { secret: string };
  keepSecret(secret);
  // An answer to a call that was sent before is that of nobody, or of somebody else.
  void takeEarly('/dashboard/session');
  setState({ kind: 'open', facts });
  return facts;
}

/** The ways to sign in that the server offers. */
export interface SignInWays {
  readonly provider?: { readonly label: string };
  readonly token: boolean;
}

export async function readSignInWays(): Promise<SignInWays> {
  return (await callSession('GET', '/dashboard/sign-in')) as SignInWays;
}

/** Leaves for the provider. `other`: it asks who it is, also if it knows. `accountId`: the one that the person has chosen. */
export async function leaveForProvider(as: 'me' | 'other', accountId?: string): Promise<void> {
  const body = { as, ...(accountId === undefined ? {} : { account_id: accountId }) };
  const { url, secret } = (await callSession('POST', '/dashboard/sign-in', body)) as { url: string; secret: string };
  const to = `${location.pathname}${location.search}`;
  sessionStorage.setItem(loginKey, JSON.stringify({ secret, to } satisfies LeftForProvider));
  location.assign(url);
}

/** State that a tab keeps while the provider asks who it is. Pages of other origins, also of other ports, cannot read it. */
interface LeftForProvider {
  readonly secret: string;
  /** The page that was open. */
  readonly to: string;
}

const loginKey = 'gatehouse.sign-in';

/** The answer of the provider. */
export interface ProviderAnswer {
  readonly query: string;
  readonly secret: string;
}

/** Takes the answer out of the URL, so that it stays in no history. Undefined where the provider has not led here. */
export function takeProviderAnswer(): ProviderAnswer | undefined {
  if (!location.pathname.endsWith('/dashboard/sign-in/callback')) return undefined;
  const query = location.search;
  const kept = sessionStorage.getItem(loginKey);
  sessionStorage.removeItem(loginKey);
  // Only `leaveForProvider` writes it.
  const left = kept === null ? undefined : (JSON.parse(kept) as LeftForProvider);
  history.replaceState(null, '', left?.to ?? location.pathname.replace(/sign-in\/callback$/, ''));
  return { query, secret: left?.secret ?? '' };
}

/** An account that knows the address of whoever signs in. */
export interface OfferedAccount {
  readonly id: string;
  readonly name: string;
}

/** Opens the session. Where several accounts know the person, none is open, and these are returned. */
export async function finishAtProvider({ query, secret }: ProviderAnswer): Promise<readonly OfferedAccount[]> {
  const answer = await callSession('POST', '/dashboard/sign-in/finish', { query, secret });
  // The seam between server and dashboard: it is a session, or the accounts.
  const { accounts = [] } = answer as { readonly accounts?: readonly OfferedAccount[] };
  if (accounts.length === 0) openSession(answer);
  return accounts;
}

/** A user who has just been made, with the token of the first key, which nothing shows again. */
export interface Accepted {
  readonly name: string;
  readonly role: SessionFacts['role'];
  readonly token: string;
}

/** Invitation that a link stands for. */
export interface Invited {
  readonly name: string;
  readonly email?: string;
  readonly role: SessionFacts['role'];
  readonly invited_by: string;
  readonly account: string;
  readonly expires_at: string;
}

export async function showInvitation(link: string): Promise<Invited> {
  // The form that the OpenAPI document gives the answer.
  return (await callSession('POST', '/invitations/show', { link })) as Invited;
}

export async function acceptInvitation(link: string): Promise<Accepted> {
  // The form that the OpenAPI document gives the answer.
  return (await callSession('POST', '/invitations/accept', { link })) as Accepted;
}

export async function signOut(where: 'here' | 'everywhere'): Promise<void> {
  const path = where === 'here' ? '/dashboard/session' : '/dashboard/sessions';
  const answer = (await callSession('DELETE', path)) as { readonly sign_out_url?: string } | undefined;
  keepSecret(undefined);
  setState({ kind: 'none', signOutUrl: answer?.sign_out_url });
}

async function callSession(method: string, path: string, body?: unknown): Promise<unknown> {
  const early = method === 'GET' ? takeEarly(path) : undefined;
  const call = {
    method,
    headers: {
      ...callHeaders(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const response = await (early ?? fetchFromServer(path, call));
  const document = parse(await response.text());
  if (response.ok) return document;
  const operationId = response.headers.get('gatehouse-operation-id') ?? '';
  throw new ApiError(response.status, document ?? {}, operationId, undefined);
}

/** Every error of the API has this form; where something in between answers, there is none. */
function parse(text: string): Partial<ErrorBody> | undefined {
  try {
    return text === '' ? undefined : (JSON.parse(text) as Partial<ErrorBody>);
  } catch {
    return undefined;
  }
}
