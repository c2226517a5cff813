import type { Sessions } from '../../api/admission/caller.ts';
import type { ProviderSignIn } from '../../api/dashboard/provider-sign-in.ts';
import { serviceKey } from '../services.ts';

export const dashboardSessions = serviceKey<Sessions>('dashboard sessions');
/** Provided where there is an identity provider. */
export const providerSignIn = serviceKey<ProviderSignIn>('sign-in with an identity provider');
