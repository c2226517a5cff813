/** The first descriptor that systemd passes (sd_listen_fds(3)). */
const firstDescriptor = 3;

/** The listening socket of this name that systemd has opened for the process, as a descriptor; undefined if there is none. */
export function inheritedSocket(
  name: string,
  pid: number,
  { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = '' }: Readonly<Record<string, string | undefined>>,
): number | undefined {
  // Variables of another process came here by way of its environment.
  if (Number(LISTEN_PID) !== pid) return undefined;
  const at = LISTEN_FDNAMES.split(':').indexOf(name);
  return at >= 0 && at < Number(LISTEN_FDS) ? firstDescriptor + at : undefined;
}
