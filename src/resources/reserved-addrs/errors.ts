import { defineError } from '../../errors/user-error.ts';

export const noFreePort = defineError(
  20087,
  409,
  'No port is free among those of this installation ({ports}). Delete a TCP edge or a reserved address, or widen the setting tcp_ports on the host.',
);

export const addrShareUsed = defineError(
  20385,
  409,
  'Few ports of {ports} are free, and they are kept for other accounts: this account has its share of {share}. Delete a reserved address or a TCP edge, or widen the setting tcp_ports on the host.',
);

export const addrInUse = defineError(
  20088,
  409,
  'The address {addr} is still used by {users}. Delete or stop these first, then delete the address.',
);

export const portFixed = defineError(
  20216,
  409,
  'The port of a reserved address is fixed, and this one has {port}. Declare another one under a name of its own.',
);

export const portNotFree = defineError(20217, 409, 'The port {port} is reserved or used already. Choose another.');

export const portNotReservable = defineError(
  20218,
  400,
  'The port {port} is not among the ports of this installation ({ports}). Choose one of these, or change the setting tcp_ports on the host.',
);
