import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { findFreePort, findUsedShare, ownersOfPort } from '../port-holders.ts';
import { nameUsers } from '../name-users.ts';
import type { ResourceContext } from '../resource.ts';
import { addrInUse, addrShareUsed, noFreePort, portNotFree, portNotReservable } from './errors.ts';
import { portOf, reservedAddrs } from './table.ts';
import type { ReservedAddr } from './table.ts';

/** The writes of single calls and of configurations. */
export function reservedAddrWrites({ services, settings }: Pick<ResourceContext, 'services' | 'settings'>) {
  const { agentDomain, tcpPorts } = settings;
  const ports = `${tcpPorts.first}-${tcpPorts.last}`;
  return {
    /** Without a port, any free one is taken. */
    async create(
      transaction: Transaction,
      accountId: string,
      { region, ...texts }: TextFields & { readonly region?: string },
      wanted?: number,
    ): Promise<ReservedAddr> {
      const port = wanted ?? (await findFreePort({ services, settings }, transaction));
      if (port === undefined) throw new UserError(noFreePort, { ports });
      const isOwn = wanted !== undefined && (await checkFree(transaction, accountId, wanted));
      if (!isOwn) await checkShare(transaction, accountId);
      const first = {
        ...reservedAddrs.newDocument(accountId),
        addr: `${agentDomain}:${port}`,
        // Official clients send "" for what was not given.
        region: region || settings.region,
      };
      return reservedAddrs.insert(transaction, withText(first, texts));
    },
    update: (transaction: Transaction, previous: ReservedAddr, texts: TextFields): Promise<ReservedAddr> =>
      reservedAddrs.update(transaction, previous, withText(previous, texts)),
    async remove(transaction: Transaction, reserved: ReservedAddr): Promise<void> {
      const owners = await ownersOfPort(services, transaction, portOf(reserved.addr));
      const users = owners.flatMap(({ id }) => (id === reserved.id ? [] : [id]));
      if (users.length > 0)
        throw new UserError(addrInUse, {
          addr: reserved.addr,
          users: await nameUsers(transaction, reserved.account_id, users),
        });
      await reservedAddrs.delete(transaction, reserved);
    },
  };

  /** True: an edge of the account has the port already, so that it is the account's own. */
  async function checkFree(transaction: Transaction, accountId: string, port: number): Promise<boolean> {
    if (port < tcpPorts.first || port > tcpPorts.last) throw new UserError(portNotReservable, { port, ports });
    const owners = await ownersOfPort(services, transaction, port);
    if (owners.some((owner) => owner.accountId !== accountId || owner.reserves))
      throw new UserError(portNotFree, { port });
    return owners.length > 0;
  }

  async function checkShare(transaction: Transaction, accountId: string): Promise<void> {
    const share = await findUsedShare({ services, settings }, transaction, accountId);
    if (share !== undefined) throw new UserError(addrShareUsed, { share, ports });
  }
}
