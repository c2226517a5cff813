import type { Host } from '../command-line/host.ts';

/** Runs a command; its fault goes to standard error, and becomes the exit code. */
export async function reportFault(host: Host, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { toFault } = await import('./server.ts');
    const fault = toFault(error);
    host.stderr.write(`${fault.message}\n`);
    host.exitCode = fault.exitCode;
  }
}
