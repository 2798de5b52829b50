import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import protojson from 'protobufjs/ext/protojson.js';
import textformat from 'protobufjs/ext/textformat.js';
import { stringify } from 'yaml';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { decodeMessage } from '../../../../supervisor/config/convert/message-decoder.ts';
import { encodeMessage } from '../../../../supervisor/config/convert/message-encoder.ts';
import { MessageReader } from '../../../../supervisor/config/convert/message-reader.ts';
import { loadWholeApi } from '../../../../supervisor/config/convert/protobuf-root.ts';
import type { Problem } from '../../../../supervisor/config/problem.ts';
import {
  joinPieces,
  KnownSlices,
  splitMessage,
} from '../../../../supervisor/config/message-pieces.ts';
import { parseJson } from '../../../../supervisor/config/source/json-source.ts';
import type { ParsedSource } from '../../../../supervisor/config/source/source-node.ts';
import { parseYaml } from '../../../../supervisor/config/source/yaml-source.ts';
import { RandomMessage } from './random-message.ts';

const catalog = new ApiCatalog();
const root = loadWholeApi();

const typeNames = [
  'envoy.config.bootstrap.v3.Bootstrap',
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.config.core.v3.Node',
  'envoy.service.discovery.v3.DiscoveryResponse',
  'envoy.admin.v3.ConfigDump',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
  'io.prometheus.client.MetricFamily',
];

const seeds = fc.noShrink(fc.integer());

function forEveryMessage(
  check: (typeName: string, message: Record<string, unknown>) => void,
): void {
  const property = fc.property(fc.constantFrom(...typeNames), seeds, (typeName, seed) => {
    check(typeName, new RandomMessage(catalog, seed).message(typeName));
  });
  fc.assert(property, { numRuns: 150, seed: 20240601 });
}

function read(typeName: string, source: ParsedSource): unknown {
  const problems: Problem[] = [];
  assert.deepEqual(source.problems, []);
  assert.ok(source.root);
  const reader = new MessageReader({
    catalog,
    unknownFields: 'refuse',
    report: (problem) => void problems.push(problem),
  });
  const message = reader.read(catalog.message(typeName), source.root);
  assert.deepEqual(problems, []);
  return message;
}

function decode(typeName: string, bytes: Uint8Array): unknown {
  const onUnknownField = (): never => assert.fail('unknown field');
  return decodeMessage({ catalog, onUnknownField }, catalog.message(typeName), bytes);
}

function encode(typeName: string, message: unknown): Uint8Array {
  return encodeMessage(catalog, catalog.message(typeName), message);
}

describe('A normalised message stays the same', () => {
  it('through JSON text', () => {
    forEveryMessage((typeName, message) => {
      assert.deepEqual(read(typeName, parseJson(JSON.stringify(message))), message);
    });
  });

  it('through YAML text, where every string is quoted', () => {
    forEveryMessage((typeName, message) => {
      const text = stringify(message, {
        version: '1.1',
        defaultStringType: 'QUOTE_DOUBLE',
        defaultKeyType: 'PLAIN',
        aliasDuplicateObjects: false,
      });
      // YAML has no numbers beyond 32 bits in a Struct; the others come back exactly.
      const known = JSON.stringify(message);
      if (!/1e\+?21|-1\.5|12345678901|e\+300|e-324|__proto__/.test(known)) {
        assert.deepEqual(read(typeName, parseYaml(text)), message);
      }
    });
  });

  it('through the binary form', () => {
    forEveryMessage((typeName, message) => {
      assert.deepEqual(decode(typeName, encode(typeName, message)), message);
    });
  });

  it('through the text format', () => {
    forEveryMessage((typeName, message) => {
      const type = root.lookupType(typeName);
      const text = textformat.toText(type, type.decode(encode(typeName, message)));
      const bytes = type.encode(textformat.fromText(type, text)).finish();
      assert.deepEqual(decode(typeName, bytes), message);
    });
  });

  it('through pieces for the pool', async () => {
    const clusters = Array.from({ length: 1001 }, (_unused, index) => ({ name: `c${index}` }));
    const message = { node: { id: 'a' }, static_resources: { clusters }, list: [1, 2] };
    const pieces = splitMessage(message, true);
    assert.ok(pieces.slices.length >= 6);
    assert.deepEqual(await joinPieces(pieces, async () => Promise.resolve()), message);
  });

  it('through pieces of a size for the pool, where nothing comes again', async () => {
    const clusters = Array.from({ length: 1001 }, (_unused, index) => ({
      name: `${index}`.padStart(1000),
    }));
    const message = { static_resources: { clusters }, list: [1, 2] };
    const pieces = splitMessage(message, false);
    assert.equal(pieces.slices.length, 4);
    assert.deepEqual(await joinPieces(pieces, async () => Promise.resolve()), message);
  });

  it('reads of a list inside of lists what is new, and shares the rest', async () => {
    const known = new KnownSlices(100_000);
    let reads = 0;
    const join = async (names: readonly string[]): Promise<unknown[]> => {
      const lb_endpoints = names.map((name) => ({ endpoint: { hostname: name } }));
      const message = { resources: [{ resource: { endpoints: [{ lb_endpoints }] } }] };
      const pause = async (): Promise<void> => {
        reads += 1;
        return await Promise.resolve();
      };
      const joined = await joinPieces(splitMessage(message, true), pause, known);
      assert.deepEqual(joined, message);
      return (joined as typeof message).resources[0]?.resource.endpoints[0]?.lb_endpoints ?? [];
    };
    const names = Array.from({ length: 2000 }, (_, at) => `host ${at}`);
    const first = await join(names);
    const before = reads;
    const second = await join(['one more', ...names.slice(0, 1000), ...names.slice(1001)]);
    assert.ok(reads - before <= 4, `${reads - before} of ${before} slices were read again`);
    assert.equal(second.at(-1), first.at(-1));
    const others = names.map((name) => `other ${name}`);
    await join(others);
    reads = 0;
    await join(names);
    assert.ok(reads > 5, 'what was used last takes the place of what was not');
  });
});

describe("protobufjs's own JSON conversion", () => {
  it('reads what we write and means the same', () => {
    forEveryMessage((typeName, message) => {
      const type = root.lookupType(typeName);
      const theirs = protojson.fromJson(type, message);
      assert.deepEqual(decode(typeName, type.encode(theirs).finish()), message);
    });
  });

  it('writes what we read as the same message', () => {
    forEveryMessage((typeName, message) => {
      const type = root.lookupType(typeName);
      const json = protojson.toJsonString(type, type.decode(encode(typeName, message)));
      assert.deepEqual(read(typeName, parseJson(json)), message);
    });
  });
});
