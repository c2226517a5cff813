/** A profile and lists about the same person, as a provider without signed claims tells them. */
interface Profile {
  readonly profile: Readonly<Record<string, unknown>>;
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
}

/** Makes claims of a profile. An address counts as verified only where a list of addresses says so. */
export function claimsOfProfile(subjectField: string, { profile, lists }: Profile): Readonly<Record<string, unknown>> {
  const { [subjectField]: id, name, login, email } = profile;
  const addresses = lists['emails']?.map(asObject) ?? [];
  const verified =
    addresses.find((each) => each['primary'] === true && each['verified'] === true) ??
    addresses.find((each) => each['verified'] === true);
  const organizations = lists['organizations']?.map((each) => asObject(each)['login']) ?? [];
  const teams = lists['teams']?.map((each) => {
    const { slug, organization } = asObject(each);
    return `${String(asObject(organization)['login'])}/${String(slug)}`;
  });
  return {
    sub: typeof id === 'number' || typeof id === 'string' ? String(id) : undefined,
    name: name ?? login,
    ...(verified === undefined ? { email } : { email: verified['email'], email_verified: true }),
    groups: [...organizations, ...(teams ?? [])],
  };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
