import { Client, crypto } from 'acme-client';

import { toTimestamp } from '../lib/ids.ts';
import { hasElapsed } from '../lib/elapsed.ts';
import { sentence, useFetch } from './authority-requests.ts';
import { accountRefused, accountRejected } from './errors.ts';
import { OrderFault, RejectedError } from './order-fault.ts';
import type { AcmeStorage, KeyType, StoredAccount } from './storage.ts';

export interface AuthoritySettings {
  readonly directory: string;
  readonly email: string | undefined;
  readonly externalAccount: { readonly kid: string; readonly hmacKey: string } | undefined;
}

/** Shortest time between two accounts that replace others: an authority that rejects every account gets no stream of them. */
const replaceEveryMs = 86_400_000;

/**
 * A client with the installation's account at the authority. The key is stored before the authority hears of it, and an
 * authority answers a key that it knows with the same account: a crash in between makes no second one.
 */
export async function openAuthority(
  storage: AcmeStorage,
  holder: string,
  settings: AuthoritySettings,
): Promise<Client> {
  const { directory, email, externalAccount } = settings;
  let account = await storage.loadAccount(directory);
  if (account === undefined) {
    account = { keyPem: await newKey('ecdsa') };
    await storage.saveAccount(holder, directory, account);
  }
  useFetch(directory);
  const client = new Client({
    directoryUrl: directory,
    accountKey: account.keyPem,
    ...(account.url === undefined ? {} : { accountUrl: account.url }),
    ...(externalAccount === undefined ? {} : { externalAccountBinding: externalAccount }),
  });
  if (account.url !== undefined) return client;
  await register(client, email);
  await storage.saveAccount(holder, directory, { ...account, url: client.getAccountUrl() });
  return client;
}

async function register(client: Client, email: string | undefined): Promise<void> {
  const contact = email === undefined ? [] : [`mailto:${email}`];
  try {
    await client.createAccount({ termsOfServiceAgreed: true, contact });
  } catch (error) {
    if (error instanceof OrderFault) throw error;
    throw new OrderFault(accountRefused, { reason: wordsOf(error) });
  }
}

/**
 * Called after the authority has not done what this client asked for: a client with an account that it accepts, which is a
 * new one if need be. Undefined if the account is in order, so that something else was the reason.
 */
export async function replaceRejectedAccount(
  rejected: Client,
  storage: AcmeStorage,
  holder: string,
  settings: AuthoritySettings,
): Promise<{ readonly client: Client; readonly reason: string | undefined } | undefined> {
  const { directory } = settings;
  const stored = await storage.loadAccount(directory);
  if (stored === undefined) return undefined;
  const rejection = await findRejection(directory, stored);
  if (rejection !== undefined) {
    checkPace(stored, rejection);
    const fresh = { keyPem: await newKey('ecdsa'), replacedAt: toTimestamp(Date.now()) };
    await storage.saveAccount(holder, directory, fresh);
  } else if (stored.url === rejected.getAccountUrl()) {
    return undefined;
  }
  // Without a rejection another process has replaced it.
  return { client: await openAuthority(storage, holder, settings), reason: rejection };
}

/** The words by which the authority rejects the account of this key; it is asked by the key, which needs no account. */
async function findRejection(directory: string, { keyPem }: StoredAccount): Promise<string | undefined> {
  const client = new Client({ directoryUrl: directory, accountKey: keyPem });
  try {
    const { status } = await client.createAccount({ onlyReturnExisting: true });
    return status === 'valid' ? undefined : `the account is ${status}.`;
  } catch (error) {
    if (error instanceof RejectedError) return wordsOf(error);
    throw error;
  }
}

function checkPace({ replacedAt: time }: StoredAccount, reason: string): void {
  if (time === undefined || hasElapsed(Date.parse(time), replaceEveryMs)) return;
  throw new OrderFault(accountRejected, { reason, time });
}

export async function newKey(type: KeyType): Promise<string> {
  const pem = await (type === 'rsa' ? crypto.createPrivateRsaKey(2048) : crypto.createPrivateEcdsaKey('P-256'));
  return pem.toString();
}

function wordsOf(error: unknown): string {
  return sentence(error instanceof Error ? error.message : String(error));
}
