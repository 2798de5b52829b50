import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { nodeMessage } from '../../../supervisor/admin-views/node-view.ts';

const stamp = { revision: 'abc', status: 'Clean', release: '1.22.3-dev', buildId: '' } as const;

describe('the node of /server_info', () => {
  it('has every key, and no locality without a zone', () => {
    const node = nodeMessage(undefined, { id: '', cluster: '', zone: '' }, stamp);
    assert.deepEqual(
      { ...node, extensions: [] },
      {
        id: '',
        cluster: '',
        dynamic_parameters: {},
        user_agent_name: 'sluice',
        user_agent_build_version: {
          version: { major_number: 1, minor_number: 22, patch: 3 },
          metadata: {
            'revision.sha': 'abc',
            'revision.status': 'Clean',
            'build.type': 'RELEASE',
            'ssl.version': 'OpenSSL',
          },
        },
        extensions: [],
        client_features: [],
        listening_addresses: [],
      },
    );
  });

  it('shows the names of the command line in place of the configured ones', () => {
    const configured = {
      id: 'a',
      metadata: { role: 'edge' },
      locality: { region: 'r', zone: 'y' },
    };
    const node = nodeMessage(configured, { id: 'n', cluster: 'c', zone: 'z' }, stamp);
    assert.deepEqual(
      [node['id'], node['cluster'], node['metadata'], node['locality']],
      ['n', 'c', { role: 'edge' }, { region: 'r', zone: 'z', sub_zone: '' }],
    );
  });

  it('lists the extensions with category and message type', () => {
    const { extensions } = nodeMessage(undefined, { id: '', cluster: '', zone: '' }, stamp);
    const router = (extensions as { name: string }[]).find(
      ({ name }) => name === 'envoy.filters.http.router',
    );
    assert.deepEqual(router, {
      name: 'envoy.filters.http.router',
      category: 'envoy.filters.http',
      type_descriptor: '',
      disabled: false,
      type_urls: ['envoy.extensions.filters.http.router.v3.Router'],
    });
  });
});
