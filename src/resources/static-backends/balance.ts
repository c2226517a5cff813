import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostPort } from '../../lib/host-port.ts';
import type { ActiveCheckEntry, BalanceEntry, StatusRange } from '../../snapshot/contract.ts';
import { acceptAddress } from './address.ts';
import { defaults } from './balance-schema.ts';
import {
  addressRequired,
  addressTwice,
  addressWithoutHost,
  invalidAddress,
  invalidHealthSetting,
  noAddressInUse,
  otherFirstAddress,
} from './errors.ts';

/** The errors of addresses, their shares and checks. */
export const addressErrors = [
  invalidAddress,
  addressWithoutHost,
  otherFirstAddress,
  addressTwice,
  noAddressInUse,
  invalidHealthSetting,
];

/** Stored settings of several addresses and of checks; those that are left out have their defaults. */
export interface BalanceSettings {
  /** Undefined where there is only `address`. */
  readonly addresses?: readonly WeightedAddress[];
  readonly balance?: { readonly by: string; readonly header?: string };
  readonly retries?: number;
  readonly when_all_down?: string;
  readonly slow_start_seconds?: number;
  readonly passive_check?: PassiveCheck;
  readonly active_check?: ActiveCheck;
}

interface WeightedAddress {
  readonly address: string;
  readonly weight: number;
}

interface PassiveCheck {
  readonly failures: number;
  readonly statuses: readonly string[];
  readonly down_seconds: number;
}

interface ActiveCheck {
  readonly kind: string;
  /** With `statuses`, only for `http`. */
  readonly path?: string;
  readonly host?: string;
  readonly statuses?: readonly string[];
  readonly interval_seconds: number;
  readonly timeout_seconds: number;
  readonly failures: number;
  readonly passes: number;
}

/** As a body gives them. */
export interface BalanceInput {
  readonly address?: string;
  readonly addresses?: readonly { readonly address: string; readonly weight?: number }[];
  readonly balance?: { readonly by: string; readonly header?: string };
  readonly retries?: number;
  readonly when_all_down?: string;
  readonly slow_start_seconds?: number;
  readonly passive_check?: Partial<PassiveCheck> & { readonly enabled?: boolean };
  readonly active_check?: Partial<ActiveCheck> & { readonly enabled?: boolean };
}

type Addresses = { readonly address: string } & Pick<BalanceSettings, 'addresses'>;

/** Whether a setting is kept is decided for each field by itself: what a body does not give stays. */
export function acceptBalance(
  input: BalanceInput,
  previous: Partial<Addresses> & BalanceSettings,
): Addresses & BalanceSettings {
  const balance = input.balance === undefined ? previous.balance : acceptChoice(input.balance);
  const retries = input.retries ?? previous.retries ?? defaults.retries;
  const allDown = input.when_all_down || previous.when_all_down || defaults.whenAllDown;
  const slowStart = input.slow_start_seconds ?? previous.slow_start_seconds ?? 0;
  const passive = input.passive_check === undefined ? previous.passive_check : acceptPassive(input.passive_check);
  const active = input.active_check === undefined ? previous.active_check : acceptActive(input.active_check);
  return {
    ...acceptAddresses(input, previous),
    ...(balance && { balance }),
    ...(retries !== defaults.retries && { retries }),
    ...(allDown !== defaults.whenAllDown && { when_all_down: allDown }),
    ...(slowStart !== 0 && { slow_start_seconds: slowStart }),
    ...(passive && { passive_check: passive }),
    ...(active && { active_check: active }),
  };
}

/** The settings alone, without what else the backend has. */
export function balanceOf(backend: BalanceSettings): BalanceSettings {
  const { addresses, balance, retries, when_all_down, slow_start_seconds, passive_check, active_check } = backend;
  return {
    ...(addresses && { addresses }),
    ...(balance && { balance }),
    ...(retries !== undefined && { retries }),
    ...(when_all_down !== undefined && { when_all_down }),
    ...(slow_start_seconds !== undefined && { slow_start_seconds }),
    ...(passive_check && { passive_check }),
    ...(active_check && { active_check }),
  };
}

/** What the gateway is told; undefined where there is one address and nothing is watched. */
export function toBalanceEntry(backend: Addresses & BalanceSettings): BalanceEntry | undefined {
  const { address, addresses = [{ address, weight: 1 }], balance, passive_check, active_check } = backend;
  if (addresses.length === 1 && passive_check === undefined && active_check === undefined) return undefined;
  return {
    addresses: addresses.map(({ address: text, weight }) => {
      const parsed = parseHostPort(text);
      if (!parsed.ok) throw new Error(`its stored address ${JSON.stringify(text)} ${parsed.reason}`);
      return { host: parsed.host, port: parsed.port, weight };
    }),
    // The schema has let no other word in.
    by: (balance?.by ?? 'round_robin') as BalanceEntry['by'],
    ...(balance?.header === undefined ? {} : { header: balance.header.toLowerCase() }),
    retries: backend.retries ?? defaults.retries,
    whenAllDown: backend.when_all_down === 'fail_closed' ? 'fail_closed' : 'fail_open',
    slowStartMs: (backend.slow_start_seconds ?? 0) * 1000,
    ...(passive_check && {
      passive: {
        failures: passive_check.failures,
        statuses: passive_check.statuses.map(toRange),
        downMs: passive_check.down_seconds * 1000,
      },
    }),
    ...(active_check && { active: toActiveEntry(active_check) }),
  };
}

function toActiveEntry(check: ActiveCheck): ActiveCheckEntry {
  const { kind, path = '/', host, statuses = [], interval_seconds, timeout_seconds, failures, passes } = check;
  return {
    kind: kind === 'tcp' ? 'tcp' : 'http',
    path,
    ...(host === undefined ? {} : { host }),
    statuses: statuses.map(toRange),
    intervalMs: interval_seconds * 1000,
    timeoutMs: timeout_seconds * 1000,
    failures,
    passes,
  };
}

/** `address` is the first: a body that gives it alone changes that one. */
function acceptAddresses({ address, addresses }: BalanceInput, previous: Partial<Addresses>): Addresses {
  const isAlone = addresses !== undefined && addresses.length === 0;
  const before = isAlone ? undefined : previous.addresses;
  if (addresses === undefined || isAlone) {
    const text = acceptAddress(address || (previous.address ?? ''));
    if (before === undefined) return { address: text };
    const [first, ...rest] = before;
    return checkAddresses([{ address: text, weight: first?.weight ?? 1 }, ...rest]);
  }
  const list = addresses.map(({ address: each, weight = 1 }) => ({ address: acceptAddress(each), weight }));
  const first = list[0]?.address ?? '';
  // Clients of one address send back the first that they read.
  if (address && address !== first && address !== previous.address)
    throw new UserError(otherFirstAddress, { address: quote(address), first: quote(first) });
  return checkAddresses(list);
}

function checkAddresses(list: readonly WeightedAddress[]): Addresses {
  const [first] = list;
  if (first === undefined) throw new UserError(addressRequired);
  const seen = new Set<string>();
  for (const { address } of list) {
    const parsed = parseHostPort(address);
    const key = parsed.ok ? `${parsed.host} ${parsed.port}` : address;
    if (seen.has(key)) throw new UserError(addressTwice, { address: quote(address) });
    seen.add(key);
  }
  if (list.every(({ weight }) => weight === 0)) throw new UserError(noAddressInUse);
  return list.length === 1 ? { address: first.address } : { address: first.address, addresses: list };
}

function acceptChoice({ by, header }: NonNullable<BalanceInput['balance']>): BalanceSettings['balance'] {
  if (by !== 'header') return by === 'round_robin' ? undefined : { by };
  if (header === undefined || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(header))
    throw refusal('balance.header', header ?? '', 'give the name of a header, up to 100 characters');
  return { by, header };
}

function acceptPassive(input: NonNullable<BalanceInput['passive_check']>): PassiveCheck | undefined {
  const { enabled = true, ...given } = input;
  if (!enabled) return undefined;
  const check = { ...defaults.passive, ...given };
  return { ...check, statuses: acceptStatuses('passive_check.statuses', check.statuses) };
}

function acceptActive(input: NonNullable<BalanceInput['active_check']>): ActiveCheck | undefined {
  const { enabled = true, ...given } = input;
  if (!enabled) return undefined;
  const { kind, path, host, statuses, ...times } = { host: '', ...defaults.active, ...given };
  if (times.timeout_seconds > times.interval_seconds)
    throw refusal('active_check.timeout_seconds', String(times.timeout_seconds), 'it is longer than the interval');
  if (kind === 'tcp') return { kind, ...times };
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw refusal('active_check.path', path, 'begin with "/", without spaces');
  if (!/^[\x21-\x7e]*$/.test(host))
    throw refusal('active_check.host', host, 'give a host name, with or without a port');
  const good = acceptStatuses('active_check.statuses', statuses.length === 0 ? defaults.active.statuses : statuses);
  return { kind, path, ...(host === '' ? {} : { host }), statuses: good, ...times };
}

function acceptStatuses(field: string, statuses: readonly string[]): readonly string[] {
  for (const text of statuses) {
    const [first, last] = toRange(text);
    if (!/^[1-5]\d\d(?:-[1-5]\d\d)?$/.test(text) || first > last)
      throw refusal(field, text, 'give a status such as "503", or a range such as "500-599"');
  }
  return statuses;
}

function toRange(text: string): StatusRange {
  const [first = '', last = first] = text.split('-');
  return [Number(first), Number(last)];
}

function refusal(field: string, value: string, remedy: string): UserError {
  return new UserError(invalidHealthSetting, { field, value: quote(value), remedy });
}
