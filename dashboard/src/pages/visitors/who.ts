/** The address of somebody, or whatever else is known. */
export function whoIs({ email, name }: { readonly email: string; readonly name: string }): string {
  return email || name || 'Unknown to the provider';
}

/** The person as decisions name them. */
export function decidedAs(user: { readonly email: string; readonly provider_user_id: string }): string {
  return user.email || user.provider_user_id;
}
