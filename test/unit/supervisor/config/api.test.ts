import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listPackages, readPackage } from '../../../../shared/api/descriptor.ts';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { nearestName } from '../../../../shared/text/nearest-name.ts';

const catalog = new ApiCatalog();

describe('The API', () => {
  it('has every type that a field or method refers to', () => {
    for (const name of catalog.messageNames()) {
      for (const field of catalog.message(name).fields) {
        if (field.kind === 'message') {
          assert.ok(field.message.fullName, `${name}.${field.name}`);
        } else if (field.kind === 'enum') {
          assert.ok(field.enum.names.length > 0, `${name}.${field.name}`);
        }
      }
    }
    const packages = listPackages().map((name) => readPackage(name));
    for (const method of packages.flatMap((found) => Object.values(found?.services ?? {}).flat())) {
      assert.ok(catalog.findMessage(method.request), method.name);
      assert.ok(catalog.findMessage(method.response), method.name);
    }
  });

  it('gives each field of a message its own number and name', () => {
    for (const name of catalog.messageNames()) {
      const { fields } = catalog.message(name);
      assert.equal(new Set(fields.map((field) => field.number)).size, fields.length, name);
      assert.equal(new Set(fields.map((field) => field.name)).size, fields.length, name);
    }
  });

  for (const [message, field] of [
    ['envoy.config.core.v3.HttpProtocolOptions', 'max_response_headers_kb'],
    ['envoy.config.core.v3.SocketAddress', 'network_namespace_filepath'],
    ['envoy.config.core.v3.Http2ProtocolOptions', 'max_metadata_size'],
    ['envoy.extensions.filters.http.mcp.v3.Mcp', 'traffic_mode'],
  ] as const) {
    it(`has what is newer than its package: ${message}.${field}`, () => {
      assert.ok(catalog.message(message).field(field));
    });
  }

  it('lacks what Envoy has removed', () => {
    const chain = catalog.message('envoy.config.listener.v3.FilterChain');
    assert.equal(chain.field('on_demand_configuration'), undefined);
  });

  it('knows fields by their JSON names too', () => {
    const type = catalog.message('envoy.config.core.v3.Http1ProtocolOptions');
    assert.equal(type.field('acceptHttp10')?.name, 'accept_http_10');
  });

  it('has no type by a wrong name', () => {
    for (const name of ['', '.', 'nosuch.Type', 'envoy.config.core.v3', '../x.Y', 'toString']) {
      assert.equal(catalog.findMessage(name), undefined);
    }
  });
});

describe('nearestName', () => {
  const names = ['port_value', 'named_port', 'address', 'connect_timeout', 'name'];
  for (const [word, near] of [
    ['port_valeu', 'port_value'],
    ['portvalue', 'port_value'],
    ['port', 'port_value'],
    ['conect-timeout', 'connect_timeout'],
    ['ADDRESS', 'address'],
    ['nmae', 'name'],
    ['zzz', undefined],
    ['', undefined],
    ['x'.repeat(1000), undefined],
  ] as const) {
    it(`of ${word.slice(0, 20)} is ${near ?? 'none'}`, () => {
      assert.equal(nearestName(word, names), near);
    });
  }
});
