import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { kubernetesOperators } from './table.ts';

const deployment = { name: 'operator', namespace: 'ingress', version: '0.20.0', cluster_name: 'c' };

onGatehousesInTurn('Kubernetes operators', (g) => {
  test('an operator registers, says what has changed, and has no bound endpoints', async () => {
    const body = {
      description: 'd',
      metadata: '{}',
      enabled_features: ['ingress', 'gateway'],
      region: 'global',
      deployment,
    };
    const { id, uri, created_at, updated_at, principal, ...rest } = await g().create('/kubernetes_operators', body);
    assert.match(id, /^k8sop_[0-9A-Za-z]{27}$/);
    assert.deepEqual([uri, updated_at], [`${g().url}/kubernetes_operators/${id}`, created_at]);
    assert.match(principal.id, /^usr_/);
    assert.deepEqual(rest, { ...body, binding: null });
    const changed = await g().patch(`/kubernetes_operators/${id}`, { deployment: { version: '0.21.0' } });
    assert.deepEqual(changed.body.deployment, { ...deployment, version: '0.21.0' });
    const { store } = g().app.context;
    const before = (await kubernetesOperators.load(store.queries, id)) ?? assert.fail('it was made');
    const updatedAt = '2026-01-01T00:00:00Z';
    await store.write({ id: 'host', accountId: before.account_id, operationId: '' }, (transaction) =>
      kubernetesOperators.update(transaction, before, { ...before, updated_at: updatedAt }),
    );
    const same = await g().patch(`/kubernetes_operators/${id}`, {
      region: 'global',
      deployment: { version: '0.21.0' },
    });
    assert.equal(same.body.updated_at, updatedAt, 'it is as before');
    const bound = await g().get(`/kubernetes_operators/${id}/bound_endpoints`);
    assert.deepEqual([bound.status, bound.body.endpoints, bound.body.next_page_uri], [200, [], null]);
    assert.equal((await g().delete(`/kubernetes_operators/${id}`)).status, 204);
    assert.equal((await g().get(`/kubernetes_operators/${id}/bound_endpoints`)).status, 404);
  });

  test('bindings are refused, as a feature and with their certificate', async () => {
    const post = (body: object) => refuses(g(), ['POST', '/kubernetes_operators', { deployment, ...body }], 400, code);
    const code = Number(
      (await g().post('/kubernetes_operators', { deployment, enabled_features: ['bindings'] })).body.error_code.match(
        /\d+$/,
      )[0],
    );
    assert.match(await post({ enabled_features: ['ingress', 'Bindings'] }), /bindings/);
    assert.match(await post({ binding: { endpoint_selectors: ['true'], csr: 'x' } }), /bindings/);
    assert.deepEqual((await g().post('/kubernetes_operators', { deployment, binding: null })).status, 201);
  });
});
