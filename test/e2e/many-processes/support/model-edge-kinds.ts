import { missing, policies, present, ref, refs, texts } from './model.ts';
import type { Choice, Fault, Kind, Model, ModuleName, Step } from './model.ts';

const addresses = ['127.0.0.1:9', 'app.internal:8080', '[2001:db8::10]:80'];
const noModules = { ip_restriction: null, policy: null, rate_limit: null, traffic_policy: null };

export const edgeKinds: Readonly<Record<string, Kind>> = {
  backend: {
    path: '/backends/static',
    listKey: 'backends',
    missing: 6514,
    create(_model, choice) {
      const { sent, kept } = texts(choice);
      const settings = { address: addresses[choice.one % addresses.length], tls: { enabled: choice.flag ?? false } };
      return { body: { ...sent, ...settings }, fields: { ...kept, ...settings } };
    },
    update(_model, { description, address, tls }, choice) {
      const { sent, kept } = texts(choice, description);
      const changed = choice.flag === undefined ? tls : { enabled: choice.flag };
      const moved = choice.few.length === 0 ? address : addresses[choice.one % addresses.length];
      return { body: { ...sent, address: moved, tls: changed }, fields: { ...kept, address: moved, tls: changed } };
    },
    kept: (model, { id }) => (model.isReferenced(id) ? 20013 : undefined),
  },
  edge: {
    path: '/edges/tcp',
    listKey: 'tcp_edges',
    missing: 7000,
    create(model, choice) {
      const { sent, kept } = texts(choice);
      const hostports = ports(model, choice);
      const module = choice.flag === true ? moduleStep(model, 'backend', choice) : undefined;
      const fault = takenPort(model, hostports) ?? module?.fault;
      const backend = module?.fields ?? null;
      const fields = { ...kept, hostports: hostports.length === 0 ? null : hostports, backend, ...noModules };
      return { body: { ...sent, hostports, ...present({ backend: module?.body }) }, fault, fields };
    },
    update(model, edge, choice) {
      const { sent, kept } = texts(choice, edge['description']);
      const { backend, ip_restriction } = edge;
      const hostports = ports(model, choice);
      if (choice.flag === undefined) {
        return { body: sent, fields: { ...kept, ...noModules, hostports: edge['hostports'], backend, ip_restriction } };
      }
      const fields = {
        ...kept,
        ...noModules,
        hostports: hostports.length === 0 ? null : hostports,
        backend,
        ip_restriction,
      };
      return { body: { ...sent, hostports }, fault: takenPort(model, hostports, edge.id), fields };
    },
  },
};

/** Computes the body of a PUT of a module, and its expected result. */
export function moduleStep(model: Model, name: ModuleName, choice: Choice): Step {
  const enabled = choice.flag ?? true;
  const sent = present({ enabled: choice.flag });
  if (name === 'backend') {
    const id = model.id('backend', choice.one);
    const fields = { enabled, backend: ref('/backends/static', id) };
    return { body: { ...sent, backend_id: id }, fault: missing(model, 'backend', [id], 6501), fields };
  }
  const ids = policies(model, choice);
  const fault = ids.length === 0 ? 7025 : missing(model, 'policy', ids, 7007);
  return { body: { ...sent, ip_policy_ids: ids }, fault, fields: { enabled, ip_policies: refs(ids) } };
}

function ports(model: Model, { few }: Choice): readonly string[] {
  return [...new Set(few.map((place) => `127.0.0.1:${20_000 + model.run * 10 + (place % 5)}`))];
}

function takenPort(model: Model, hostports: readonly string[], edgeId?: string): Fault | undefined {
  const others = model.all('edge').filter(({ id }) => id !== edgeId);
  const held = new Set(others.flatMap((edge) => (Array.isArray(edge['hostports']) ? edge['hostports'] : [])));
  return hostports.some((each) => held.has(each)) ? 7122 : undefined;
}
