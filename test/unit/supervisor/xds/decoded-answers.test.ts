import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeDeltaResponse,
  decodeResponse,
  decodeStreamedResponse,
} from '../../../../supervisor/xds/subscriptions/decode-response.ts';
import {
  RESOURCE_TYPES,
  type ResourceType,
} from '../../../../supervisor/resolved/resource-kinds.ts';
import { answerSource, DECODING } from '../../../support/peers/discovery-parts.ts';

const { cluster: CLUSTER, secret: SECRET } = RESOURCE_TYPES;

describe('an answer of a control plane', () => {
  it('may not take away the same name twice', async () => {
    await assert.rejects(
      decodeDeltaResponse(answerSource({ removed_resources: ['a', 'b', 'a'] }), CLUSTER, DECODING),
      { message: 'duplicate name a found in the union of added+removed resources' },
    );
  });

  it('that holds a state of the world has one version, whatever its wrapped resources say', async () => {
    const resource = { '@type': CLUSTER.typeUrl, name: 'a' };
    const wrapper = 'type.googleapis.com/envoy.service.discovery.v3.Resource';
    const answer = {
      version_info: '1',
      resources: [{ '@type': wrapper, name: 'a', version: '7', resource }],
    };
    const { resources } = await decodeResponse(answerSource(answer), CLUSTER, DECODING);
    assert.deepEqual(
      resources.map(({ versionInfo }) => versionInfo),
      ['1'],
    );
  });

  it('is refused with the message that breaks a rule, without what is secret in it', async () => {
    const reason = async (resource: object, type: ResourceType = CLUSTER): Promise<string> => {
      const answer = { resources: [{ '@type': type.typeUrl, ...resource }] };
      return await decodeResponse(answerSource(answer), type, DECODING).then(
        () => 'taken',
        (error: unknown) => (error as Error).message,
      );
    };
    assert.equal(
      await reason({ type: 'EDS', connect_timeout: '1.5s', per_connection_buffer_limit_bytes: 0 }),
      'goo.gle/debugstr  \ntype: EDS\nconnect_timeout {\n  seconds: 1\n  nanos: 500000000\n}\nper_connection_buffer_limit_bytes {\n}\n' +
        ': Proto constraint validation failed (ClusterValidationError.Name: value length must be at least 1 characters)',
    );
    const keys = { keys: [{ inline_string: 'hidden' }, { filename: '' }] };
    const shown = await reason({ name: 't', session_ticket_keys: keys }, SECRET);
    assert.match(shown, /^goo.gle\/debugstr {2}\nname: "t"\nsession_ticket_keys \{/);
    assert.doesNotMatch(shown, /hidden/);
  });

  it('shows the whole answer where a resource is of another type', async () => {
    const answer = {
      version_info: '1',
      resources: [{ '@type': RESOURCE_TYPES.listener.typeUrl, name: 'l' }],
    };
    await assert.rejects(decodeStreamedResponse(answerSource(answer), CLUSTER, DECODING), {
      message:
        `${RESOURCE_TYPES.listener.typeUrl} does not match the message-wide type URL ${CLUSTER.typeUrl} ` +
        'in DiscoveryResponse goo.gle/debugstr  \nversion_info: "1"\nresources {\n' +
        `  [${RESOURCE_TYPES.listener.typeUrl}] {\n    name: "l"\n  }\n}\n`,
    });
  });
});
