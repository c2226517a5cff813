import { defineError } from '../errors/user-error.ts';

/** Faults of an order; they are shown in the status of a reserved domain, and in the log. */

export const challengeFailed = defineError(
  20240,
  502,
  'The authority could not check {name} by {kind}: {reason} Make sure that the name leads to this installation and that port {port} reaches it.',
);

export const authorityRefused = defineError(20241, 502, 'The authority refused the order for {name}: {reason}');

export const authorityBusy = defineError(
  20242,
  503,
  'The authority takes no orders at the moment (status {status}): {reason} Gatehouse asks again at the time in retries_at.',
);

export const authorityUnreachable = defineError(
  20243,
  503,
  'The authority at {directory} cannot be reached: {reason} Check GATEHOUSE_ACME_DIRECTORY, and that this machine can reach the authority.',
);

export const ordersUsedUp = defineError(
  20244,
  503,
  'The orders of this hour are used up: this installation makes {limit}, of which {kept} are kept for renewals. Gatehouse goes on by itself; GATEHOUSE_ACME_ORDERS_PER_HOUR sets another bound.',
);

export const hookFailed = defineError(
  20245,
  502,
  'The program in GATEHOUSE_ACME_DNS_HOOK could not {task} the DNS record for {name}: {reason}',
);

export const orderLate = defineError(
  20246,
  504,
  'The authority has not decided on {name} within {seconds} seconds. Gatehouse looks at the order again at the time in retries_at.',
);

export const orderFaulted = defineError(
  20247,
  500,
  'The order for {name} failed on our side; the log has the cause. Gatehouse tries again at the time in retries_at.',
);

export const accountRejected = defineError(
  20275,
  502,
  'The authority does not accept the account of this installation: {reason} Gatehouse has already made a new account at {time}, and makes no other within a day. Ask the authority for the reason, or set GATEHOUSE_ACME_DIRECTORY to another one.',
);

export const accountRefused = defineError(
  20276,
  502,
  'The authority gives this installation no account: {reason} Check GATEHOUSE_ACME_EMAIL, GATEHOUSE_ACME_EAB_KID and GATEHOUSE_ACME_EAB_KEY against what it asks for.',
);

export const shareUsedUp = defineError(
  20281,
  503,
  'This account has used up its share of the {limit} orders that this installation makes in an hour, so that other accounts get certificates too. Gatehouse goes on by itself; GATEHOUSE_ACME_ORDERS_PER_HOUR sets another bound.',
);
