/** A server, or with `*.` all below a name. */
interface NamedHost {
  readonly name: string;
  readonly ports: readonly number[];
}

let named: readonly NamedHost[] = [];
let changes = 0;

/** From now on rules may ask these servers, which the operator has named. Disposing of it ends that. */
export function useRequestHosts(hosts: readonly string[]): Disposable {
  use(hosts);
  return {
    [Symbol.dispose]() {
      use([]);
    },
  };
}

function use(hosts: readonly string[]): void {
  named = hosts.map((each) => {
    const [name = '', port] = each.split(':');
    return { name, ports: port === undefined ? [80, 443] : [Number(port)] };
  });
  changes += 1;
}

/** Whether rules may ask a server that is no internal endpoint. */
export function mayAskServer({ protocol, hostname, port }: URL): boolean {
  // A URL has no port where it is the usual one of its scheme.
  const asked = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return named.some(
    ({ name, ports }) =>
      ports.includes(asked) && (name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name),
  );
}

/** Another number with other servers. */
export function requestHostsVersion(): number {
  return changes;
}
