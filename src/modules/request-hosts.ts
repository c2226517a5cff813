let named: readonly string[] = [];
let changes = 0;

/** From now on rules may ask these servers, which the operator has named. Disposing of it ends that. */
export function useRequestHosts(hosts: readonly string[]): Disposable {
  named = hosts;
  changes += 1;
  return {
    [Symbol.dispose]() {
      named = [];
      changes += 1;
    },
  };
}

/** Whether rules may ask a server that is no internal endpoint. Without a port in the setting, the usual ones are meant. */
export function mayAskServer({ host }: URL): boolean {
  return named.some((each) => (each.startsWith('*.') ? host.endsWith(each.slice(1)) : host === each));
}

/** Another number with other servers. */
export function requestHostsVersion(): number {
  return changes;
}
