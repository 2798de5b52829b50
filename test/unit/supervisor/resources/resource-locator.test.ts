import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  canonicalName,
  folderOf,
  formatLocator,
  isFolder,
  parseLocator,
  withNodeContext,
} from '../../../../supervisor/resolved/resource-locator.ts';

const TYPE = 'envoy.config.cluster.v3.Cluster';

/** What Envoy asks a control plane for when its configuration says the first. */
const CANONICAL: readonly (readonly [string, string])[] = [
  [`xdstp://auth/${TYPE}/foo/*?z=1&a=2`, `xdstp://auth/${TYPE}/foo/*?a=2&z=1`],
  [`xdstp:///${TYPE}/foo/*`, `xdstp:///${TYPE}/foo/*`],
  [`xdstp://auth/${TYPE}`, `xdstp://auth/${TYPE}`],
  [`xdstp://auth/${TYPE}/f%zz/*`, `xdstp://auth/${TYPE}/f%25zz/*`],
  [`xdstp://au%20th/${TYPE}/f%41 b/é/*`, `xdstp://au th/${TYPE}/fA b/%C3%A9/*`],
  [`xdstp://auth/${TYPE}/x?b=%20x`, `xdstp://auth/${TYPE}/x?b= x`],
  ['plain?z=1&a=2', 'plain?z=1&a=2'],
  ['xdstp://auth', 'xdstp://auth'],
];

describe('names of resources that are URLs', () => {
  it('are compared in one form, and other names as they are', () => {
    for (const [given, wanted] of CANONICAL) assert.equal(canonicalName(given), wanted);
  });

  it('mean the same after they were written and read', () => {
    const text = fc.string({ unit: 'grapheme' });
    const id = fc.array(text, { minLength: 1 });
    const context = fc.dictionary(
      text.filter((key) => key !== '__proto__' && key !== ''),
      text,
    );
    fc.assert(
      fc.property(text, id, context, (authority, parts, params) => {
        const locator = { authority, type: TYPE, id: parts, context: { ...params } };
        assert.deepEqual(parseLocator(formatLocator(locator)), locator);
      }),
    );
  });

  it('are refused by the reason when they are none', () => {
    const reasons = [
      ['foo', 'foo does not have a xdstp:, http: or file: scheme'],
      ['xdstp://auth', 'Resource type missing from /'],
    ] as const;
    for (const [given, message] of reasons) {
      assert.throws(() => parseLocator(given), { name: 'ResourceLocatorError', message });
    }
  });

  it('are in the folder of all that differ in their last part alone', () => {
    const folder = `xdstp://auth/${TYPE}/foo/*?a=2`;
    assert.equal(folderOf(`xdstp://auth/${TYPE}/foo/one?a=2`), folder);
    assert.notEqual(folderOf(`xdstp://auth/${TYPE}/foo/one`), folder);
    assert.notEqual(folderOf(`xdstp://auth/${TYPE}/foo/deeper/one?a=2`), folder);
    assert.equal(folderOf('one'), undefined);
    assert.equal(isFolder(folder), true);
    assert.equal(isFolder(`xdstp://auth/${TYPE}/foo/one`), false);
  });

  it('get what the bootstrap says of its node, unless they say it themselves', () => {
    const node = {
      id: 'me',
      cluster: 'mine',
      locality: { zone: 'zo' },
      metadata: { x: 1, s: 'text', y: { z: 'a b' } },
      user_agent_build_version: { version: { major_number: 1, minor_number: 40 } },
    };
    const keys = [
      'id',
      'cluster',
      'metadata',
      'locality.zone',
      'locality.region',
      'locality',
      'no',
    ];
    keys.push('user_agent_build_version.version');
    const locator = parseLocator(`xdstp://auth/${TYPE}/foo/*?xds.node.id=given`);
    assert.deepEqual(withNodeContext(locator, keys, node).context, {
      'xds.node.cluster': 'mine',
      'xds.node.id': 'given',
      'xds.node.locality.region': '',
      'xds.node.locality.zone': 'zo',
      'xds.node.metadata.s': '"text"',
      'xds.node.metadata.x': '1',
      'xds.node.metadata.y': '{"z":"a b"}',
      'xds.node.user_agent_build_version.version': '1.40.0',
    });
  });
});
