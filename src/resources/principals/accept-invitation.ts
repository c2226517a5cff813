import type { Invitations } from '../../api/dashboard/invitation-route.ts';
import { secretMatchesAny } from '../../lib/secrets.ts';
import { apiKeyOwners } from '../api-keys/service.ts';
import type { ResourceContext } from '../resource.ts';
import { insertUser } from './directory.ts';
import { isOver } from './people.ts';
import { principals } from './service.ts';
import { invitations, users } from './table.ts';
import type { Invitation, User } from './table.ts';

const form = /^([0-9A-Za-z]{27})_([0-9A-Za-z]{43})$/;

export function createAcceptance({ store, services }: Pick<ResourceContext, 'store' | 'services'>): Invitations {
  return {
    async accountOf(token) {
      return (await findOpen(token))?.account_id;
    },
    async show(token) {
      const invitation = await findOpen(token);
      if (invitation === undefined) return undefined;
      const { account_id: accountId, invited_by: inviterId, name, email, role, expires_at } = invitation;
      const { name: inviter } = await services.get(principals).describe(accountId, inviterId);
      const account = await services.get(principals).accountName(accountId);
      return { name, email, role, invited_by: inviter, account, expires_at };
    },
    async accept(token, { operationId, ...call }) {
      const known = await find(token);
      if (known === undefined) return undefined;
      const { id, account_id: accountId } = known;
      const begun = users.newDocument(accountId);
      return store.write({ id: begun.id, accountId, operationId, call }, async (transaction) => {
        // Writes have an order, in every process: only the first one finds the invitation.
        const invitation = await invitations.load(transaction, id);
        if (invitation === undefined || isOver(invitation)) return undefined;
        const inviter = await services.get(principals).load(transaction, accountId, invitation.invited_by);
        if (inviter?.active !== true || inviter.role !== 'admin') return undefined;
        await invitations.delete(transaction, invitation);
        const { name, email, role } = invitation;
        const invited: User = { ...begun, name, role, active: true, ...(email === undefined ? {} : { email }) };
        const user = await insertUser(transaction, invited);
        const key = { accountId, ownerId: user.id, description: 'first key, from the invitation' };
        const { id: keyId, token: keyToken } = await services.get(apiKeyOwners).create(transaction, key);
        return { user_id: user.id, name, role, api_key_id: keyId, token: keyToken };
      });
    },
  };

  /** One that is not over, from somebody who may still invite. */
  async function findOpen(token: string): Promise<Invitation | undefined> {
    const invitation = await find(token);
    if (invitation === undefined || isOver(invitation)) return undefined;
    const inviter = await services.get(principals).find(invitation.account_id, invitation.invited_by);
    return inviter?.active === true && inviter.role === 'admin' ? invitation : undefined;
  }

  /** Unknown ids and wrong secrets take the same path and time. */
  async function find(token: string): Promise<Invitation | undefined> {
    const [, body = '', secret = ''] = form.exec(token) ?? [];
    const sql = 'SELECT document, secret_hash FROM invitations WHERE id = $1';
    const [row] = body === '' ? [] : await store.queries.all(sql, [`${invitations.prefix}_${body}`]);
    const isRight = secretMatchesAny(secret, row === undefined ? undefined : String(row[1]), undefined);
    return isRight && row !== undefined ? invitations.parse(row) : undefined;
  }
}
