import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeResponse,
  decodeStreamedResponse,
} from '../../../../supervisor/xds/subscriptions/decode-response.ts';
import { RESOURCE_TYPES } from '../../../../supervisor/resolved/resource-kinds.ts';
import { httpListener } from '../../../support/parts/bootstrap.ts';
import { answerSource, DECODING, testResolver } from '../../../support/peers/discovery-parts.ts';

const LISTENER = 'type.googleapis.com/envoy.config.listener.v3.Listener';
const CLUSTER = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';

const resolver = testResolver();

/** The refusal of a listener whose only chain has these ranges each. */
function ofRanges(...ranges: readonly (readonly [string, number])[]): string | undefined {
  const { filter_chains: chains = [], ...listener } = httpListener([]) as {
    readonly filter_chains?: readonly object[];
  };
  const matched = ranges.map(([prefix, length]) => ({
    ...chains[0],
    filter_chain_match: { prefix_ranges: [{ address_prefix: prefix, prefix_len: length }] },
  }));
  return resolver.listener({ ...listener, filter_chains: matched } as never).error;
}

describe('an answer with a resource of another type', () => {
  it('is refused in other words when it came over a stream', async () => {
    const source = answerSource({ resources: [{ '@type': LISTENER, name: 'a' }] });
    const type = RESOURCE_TYPES.cluster;
    await assert.rejects(decodeResponse(source, type, DECODING), {
      code: 'refused',
      message: `Unable to unpack as envoy.config.cluster.v3.Cluster: [${LISTENER}]`,
    });
    await assert.rejects(decodeStreamedResponse(source, type, DECODING), {
      code: 'refused',
      message: /Listener does not match the message-wide type URL .*Cluster in DiscoveryResponse /,
    });
  });
});

describe('a negative duration', () => {
  it('refuses the answer and is no failure to read it', async () => {
    const source = answerSource({
      resources: [{ '@type': CLUSTER, name: 'a', connect_timeout: '-1s' }],
    });
    await assert.rejects(decodeResponse(source, RESOURCE_TYPES.cluster, DECODING), {
      code: 'refused',
      message: 'Invalid duration: Expected positive duration',
    });
  });
});

describe('a dynamic resource', () => {
  it('is refused when it names the shared stream and there is none', () => {
    const { error } = resolver.cluster({
      name: 'a',
      type: 'EDS',
      eds_cluster_config: { eds_config: { ads: {}, resource_api_version: 'V3' } },
    });
    assert.equal(error, 'ADS must be configured to support an ADS config source');
  });

  it('is refused when two chains of it match addresses of one network', () => {
    assert.equal(ofRanges(['10.0.0.0', 8], ['11.0.0.0', 8]), undefined);
    assert.match(ofRanges(['10.0.0.0', 8], ['10.1.2.3', 8]) ?? '', /overlapping matching rules/);
    assert.equal(ofRanges(['10.0.0.0.1', 8]), 'malformed IP address: 10.0.0.0.1');
  });

  it('is refused when a filter is to come of a type that there is not', () => {
    const discovered = {
      name: 'x',
      config_discovery: {
        config_source: { path_config_source: { path: '/dev/null' } },
        type_urls: ['type.googleapis.com/foo.Bar'],
      },
    };
    const listener = httpListener([], { hcm: { http_filters: [discovered, {}] } });
    const { error } = resolver.listener(listener as never);
    assert.equal(error, 'Error: no factory found for a required type URL foo.Bar.');
  });
});
