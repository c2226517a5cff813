/** The part of the process that commands work with. */
export type Host = Pick<NodeJS.Process, 'env' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'once' | 'exit' | 'exitCode'>;
