export const bodyLimitBytes = 1024 * 1024;
