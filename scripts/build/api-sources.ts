/**
 * Which .proto files make the API: those of the development dependency, and the overlay above them.
 * An overlay file has the path of the file it adds to. It declares only what is newer: messages,
 * fields, enum values; a field declared again replaces the older one, and `reserved "name"` removes
 * it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface ProtoSource {
  /** The import path, such as `envoy/config/core/v3/base.proto`. */
  readonly importPath: string;
  readonly path: string;
  /** Overlay files add to messages that a package file declares, and are read last. */
  readonly overlay: boolean;
}

interface SourceRoot {
  readonly folder: string;
  readonly wanted: RegExp;
}

/** The API is v3 only; older major versions and test protos lie in the same folders. */
const roots: readonly SourceRoot[] = [
  { folder: 'envoy-api', wanted: /^envoy\/.*\/v3(alpha)?\/[^/]+\.proto$/ },
  { folder: 'xds', wanted: /^(xds\/(core|type|data|service)\/|udpa\/type\/v1\/).*\.proto$/ },
  {
    folder: 'googleapis',
    wanted:
      /^google\/(rpc\/status|api\/httpbody|api\/expr\/v1alpha1\/(syntax|checked|eval|value))\.proto$/,
  },
];

/** These need the OpenCensus API, which is gone from Envoy and from here. */
const dropped = /^envoy\/(config\/trace\/v3\/opencensus|service\/trace\/v3\/trace_service)\.proto$/;

/** Lists the sources in a stable order. */
export function listProtoSources(projectRoot: string): ProtoSource[] {
  const deps = join(projectRoot, 'node_modules', '@grpc', 'grpc-js-xds', 'deps');
  const sources = roots.flatMap(({ folder, wanted }) =>
    protoFilesIn(join(deps, folder))
      .filter((importPath) => wanted.test(importPath) && !dropped.test(importPath))
      .map((importPath) => ({ importPath, path: join(deps, folder, importPath), overlay: false })),
  );
  const overlay = join(projectRoot, 'shared', 'api', 'overlay');
  const added = protoFilesIn(overlay).map((importPath) => ({
    importPath,
    path: join(overlay, importPath),
    overlay: true,
  }));
  return [...sources, ...added];
}

function protoFilesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.proto'))
    .sort();
}
