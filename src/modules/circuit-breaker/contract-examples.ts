import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({ tripped_duration: 30, error_threshold_percentage: 0.2 });
