import type { Sessions } from '../../api/caller.ts';
import { serviceKey } from '../services.ts';

export const dashboardSessions = serviceKey<Sessions>('dashboard sessions');
