/** How the server names itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownExtensions } from '../../../../supervisor/resources/known-extensions.ts';
import { nodeMessage } from '../../../../supervisor/services/node-message.ts';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';

const VERSION = 'abc/1.4.0-dev/Clean/RELEASE/OpenSSL';

test('the command line stands above the bootstrap, field by field', () => {
  const node = nodeMessage({
    configured: {
      id: 'from-file',
      cluster: 'from-file',
      metadata: { role: 'edge' },
      locality: { region: 'r', zone: 'from-file' },
    },
    identity: { id: 'cli', cluster: 'cli-cluster', zone: 'zone-7', metadata: {} },
    version: VERSION,
  });
  const { extensions, ...rest } = node;
  assert.ok(Array.isArray(extensions) && extensions.length > 0);
  assert.deepEqual(rest, {
    id: 'cli',
    cluster: 'cli-cluster',
    metadata: { role: 'edge' },
    locality: { region: 'r', zone: 'zone-7' },
    user_agent_name: 'sluice',
    user_agent_build_version: {
      version: { major_number: 1, minor_number: 4 },
      metadata: {
        'build.type': 'RELEASE',
        'revision.sha': 'abc',
        'revision.status': 'Clean',
        'ssl.version': 'OpenSSL',
      },
    },
  });
});

test('a server without a node has no locality', () => {
  const node = nodeMessage({
    configured: {},
    identity: { id: '', cluster: '', zone: '', metadata: {} },
    version: VERSION,
  });
  assert.deepEqual(Object.keys(node), [
    'user_agent_name',
    'user_agent_build_version',
    'extensions',
  ]);
});

test('every extension that is listed has a message in the API', () => {
  const types = createMessageTypes();
  for (const { name, type } of knownExtensions()) assert.ok(types.find(type), name);
});
