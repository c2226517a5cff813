import { Type } from 'typebox';

import { roles } from '../../api/admission/roles.ts';
import type { Role } from '../../api/admission/roles.ts';
import { text } from '../../api/body/text-fields.ts';
import { invalidValue } from '../../api/errors.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { comparableEmail } from '../../lib/email-address.ts';
import type { Row } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { notAnEmailAddress, personTaken } from './errors.ts';
import { invitations } from './table.ts';
import type { Invitation, Person } from './table.ts';

export const personName = text(
  255,
  'A human-readable name, unique among users and invitations of the account.',
  'Marta',
);
export const personEmail = text(
  254,
  'E-mail address, unique among users and invitations of the account. Nothing is sent there.',
  'marta@example.com',
);
export const personRole = Type.Unsafe<Role>({
  type: 'string',
  enum: [...roles],
  description:
    'admin: everything. member: everything but users, bots, IP restrictions and the change log, and of keys only their own. viewer: reads.',
  examples: ['member'],
});

export const personErrors = [personTaken, notAnEmailAddress];
export const personFilterFields = {
  id: commonFields.id,
  created_at: commonFields.created_at,
  name: textIn('name'),
  email: textIn('email'),
  role: textIn('role'),
};

type PersonInput = Partial<Pick<Person, 'name' | 'email' | 'role'>>;

/** Applies the fields of a request: absent keeps a value, and `""` removes the address. */
export function withPerson<Document extends Person>(document: Document, input: PersonInput): Document {
  const { email = document.email, name = document.name, role = document.role } = input;
  const { email: _, ...rest } = document;
  // Only these fields differ from the document.
  return { ...rest, name, role, ...(email === undefined || email === '' ? {} : { email }) } as Document;
}

/** Throws for a name or an address that is none, or that somebody else in the account has. */
export async function checkPerson(transaction: Transaction, person: Person): Promise<void> {
  const { id, account_id, name, email } = person;
  if (name.trim() === '') throw new UserError(invalidValue, { field: '"name"', reason: 'is empty' });
  // Name and address stand in columns of their own, where PostgreSQL cannot hold one.
  if (name.includes('\0')) throw new UserError(invalidValue, { field: '"name"', reason: 'holds a NUL character' });
  if (email !== undefined && !/^[^\s@\0]+@[^\s@\0]+$/.test(email))
    throw new UserError(notAnEmailAddress, { email: quote(email) });
  const values = [account_id, name, email === undefined ? '' : comparableEmail(email), id];
  const sql = (table: string) =>
    `SELECT document, name, id FROM ${table} WHERE account_id = $1 AND (name = $2 OR email = $3) AND id <> $4`;
  const [user] = await transaction.all(sql('users'), values);
  if (user !== undefined) throw taken(person, user);
  const invited = await transaction.all(sql('invitations'), values);
  const open = invited.find((row) => !isOver(invitations.parse(row)));
  if (open !== undefined) throw taken(person, open);
}

export function isOver({ expires_at }: Invitation): boolean {
  return Date.parse(expires_at) <= Date.now();
}

function taken({ name, email = '' }: Person, [, takenName, id]: Row): UserError {
  const isName = takenName === name;
  return new UserError(personTaken, {
    field: isName ? 'name' : 'e-mail address',
    value: quote(isName ? name : email),
    id: String(id),
  });
}
