import type { Sessions } from '../../api/admission/caller.ts';
import { serviceKey } from '../services.ts';

export const dashboardSessions = serviceKey<Sessions>('dashboard sessions');
