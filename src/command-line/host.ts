/** The part of the process that commands work with. */
export type Host = Pick<NodeJS.Process, 'env' | 'stdout' | 'stderr' | 'once' | 'exit' | 'exitCode'>;
