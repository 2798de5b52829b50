/**
 * Reads and checks what a configuration takes from files: resources of every kind, those that they
 * name in turn, and runtime layers. A server would meet these mistakes only while it runs.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { typeNameOf } from '../config/type-name.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { DiscoveryResponse } from '../../shared/api/generated/envoy/service/discovery/v3/discovery.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { ConfigError } from '../config/config-error.ts';
import type { UnknownFields } from '../config/convert/reader-options.ts';
import { loadMessageFile } from '../config/load-config.ts';
import { at, type Place, type Problem } from '../config/problem.ts';
import type { Configuration } from '../start/load-configuration.ts';
import { unexpectedType } from '../resources/filters/http/discovered.ts';
import { readDiskLayer } from '../runtime/runtime-layers.ts';
import { type RuntimeLayer } from '../resolved/runtime-layer.ts';
import { ResourceResolver } from '../xds/kinds/resource-resolver.ts';
import { RESOURCE_TYPES } from '../resolved/resource-kinds.ts';
import { checkScripts } from '../scripts/checked-scripts.ts';
import { namedFiles, type NamedFile } from './named-files.ts';

export interface FollowOptions {
  readonly unknownFields: UnknownFields;
  readonly scriptFolders: readonly string[];
  readonly refusesRepeatedKeys: boolean;
  readonly skipSecrets: boolean;
}

const ANSWER = 'envoy.service.discovery.v3.DiscoveryResponse';
const WRAPPER = 'envoy.service.discovery.v3.Resource';

/** Every problem has its position; the bootstrap itself has passed. */
export async function checkFollowedFiles(
  configuration: Configuration,
  options: FollowOptions,
): Promise<readonly Problem[]> {
  const walk = new FileWalk(configuration, options);
  const files = namedFiles(configuration.bootstrap, undefined);
  // Listeners and routes name clusters.
  await walk.follow(files.filter(({ kind }) => kind === 'cluster'));
  await walk.follow(files);
  const runtime = await checkRuntime(configuration.resolved.runtimeLayers);
  return [...walk.problems, ...(await configuration.locate(runtime))];
}

class FileWalk {
  readonly problems: Problem[] = [];
  readonly #configuration: Configuration;
  readonly #options: FollowOptions;
  readonly #resolver: ResourceResolver;
  /** Names of what each file holds, so that it is read once. */
  readonly #read = new Map<string, ReadonlySet<string>>();
  readonly #clusters = new Set<string>();

  constructor(configuration: Configuration, options: FollowOptions) {
    this.#configuration = configuration;
    this.#options = options;
    const { resolved, store, bootstrap } = configuration;
    const { clusters } = resolved.dynamic;
    const areAllKnown = clusters === undefined || clusters.kind === 'path';
    this.#resolver = new ResourceResolver({
      bootstrap,
      rules: resolved,
      skipSecrets: options.skipSecrets,
      isKnownCluster: (name) =>
        !areAllKnown || this.#clusters.has(name) || store.get('cluster', name) !== undefined,
      warn: () => undefined,
    });
  }

  /** `locate` is that of the file in which the places are; absent: of the bootstrap. */
  async follow(files: readonly NamedFile[], locate = this.#configuration.locate): Promise<void> {
    for (const file of files) {
      if (!existsSync(file.path)) {
        this.problems.push(...(await locate([missing(file)])));
        continue;
      }
      const key = [file.kind, file.path, ...(file.types ?? [])].join(' ');
      const names = this.#read.get(key) ?? (await this.#check(file, key));
      if (file.wanted === undefined || names.has(file.wanted)) continue;
      this.problems.push(...(await locate([unnamed(file)])));
    }
  }

  async #check(file: NamedFile, key: string): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    this.#read.set(key, names);
    const inner: NamedFile[] = [];
    try {
      const { unknownFields, refusesRepeatedKeys } = this.#options;
      const loaded = await loadMessageFile<DiscoveryResponse>(ANSWER, file.path, {
        unknownFields,
        refusesRepeatedKeys,
        check: async (message) => {
          await checkScripts(message['resources'], this.#options.scriptFolders);
          return this.#resources(file, message, { names, inner });
        },
      });
      this.problems.push(...loaded.warnings);
      await this.follow(inner, loaded.locate);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.problems.push(...error.problems);
    }
    return names;
  }

  #resources(
    file: NamedFile,
    message: DiscoveryResponse,
    found: { readonly names: Set<string>; readonly inner: NamedFile[] },
  ): readonly Problem[] {
    const problems: Problem[] = [];
    const type = RESOURCE_TYPES[file.kind];
    for (const [index, any] of ((message.resources ?? []) as readonly JsonObject[]).entries()) {
      const outer = at(at(undefined, 'resources'), index);
      const isWrapped = typeName(any) === WRAPPER;
      const place = isWrapped ? at(outer, 'resource') : outer;
      const resource = (isWrapped ? any['resource'] : any) as JsonObject | undefined;
      if (resource === undefined) continue;
      if (typeName(resource) !== type.message) {
        problems.push(unexpected(resource, type.typeUrl, place));
        continue;
      }
      const name = resource[type.nameField];
      if (typeof name === 'string') found.names.add(name);
      if (typeof name === 'string' && file.kind === 'cluster') this.#clusters.add(name);
      problems.push(
        ...this.#resolver.check(file.kind, resource, place).map(asLaterFile(resource)),
        ...checkType(file, resource, place),
      );
      found.inner.push(...namedFiles(resource, place));
    }
    return problems;
  }
}

async function checkRuntime(layers: readonly RuntimeLayer[]): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const [index, layer] of layers.entries()) {
    if (layer.kind !== 'disk') continue;
    const place = at(at(at(at(undefined, 'layered_runtime'), 'layers'), index), 'disk_layer');
    const problem = { place: at(place, 'symlink_root'), rule: 'file' };
    if (!existsSync(dirname(layer.symlinkRoot))) {
      const message = `cannot watch '${layer.symlinkRoot}': the folder around it does not exist`;
      problems.push({ ...problem, severity: 'error', message });
      continue;
    }
    try {
      await readDiskLayer(layer);
    } catch (error) {
      const reason = errorText(error);
      const message = `cannot load runtime layer ${layer.name}: ${reason}`;
      problems.push({ ...problem, severity: 'warning', message });
    }
  }
  return problems;
}

/**
 * A warning, since Envoy accepts it here: the file may be there by the time that a server starts.
 */
function missing({ path, place }: NamedFile): Problem {
  const message = `paths must refer to an existing path in the system: '${path}' does not exist`;
  return { severity: 'warning', place, message, rule: 'file' };
}

/** The same of files that a resource of a file names: only a server reads them. */
function asLaterFile(resource: JsonObject): (problem: Problem) => Problem {
  const isComplete = filesOf(resource).every((path) => existsSync(path));
  return (problem) =>
    isComplete || problem.rule !== 'file' ? problem : { ...problem, severity: 'warning' };
}

/** Paths of data sources, however deep. */
function filesOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'filename' && typeof inner === 'string' ? [inner] : filesOf(inner),
  );
}

function unnamed({ path, place, wanted = '' }: NamedFile): Problem {
  const message = `there is no resource named '${wanted}' in ${path}`;
  return { severity: 'warning', place, message, rule: 'reference' };
}

function unexpected(resource: JsonObject, typeUrl: string, place: Place): Problem {
  const message = `unexpected resource type ${typeName(resource)} in a file of ${typeUrl}`;
  return { severity: 'error', place: at(place, '@type'), message, rule: 'reference' };
}

/** Settings of a filter are of a type that the filter may have. */
function checkType({ types, wanted }: NamedFile, resource: JsonObject, place: Place): Problem[] {
  const { name, typed_config: config } = resource;
  if (types === undefined || name !== wanted || typeof config !== 'object') return [];
  const allowed = types.map(typeNameOf);
  const type = typeName(config as JsonObject);
  if (allowed.includes(type)) return [];
  const message = unexpectedType(type, allowed);
  return [{ severity: 'error', place: at(place, 'typed_config'), message, rule: 'reference' }];
}

function typeName(any: JsonObject): string {
  const url = any['@type'];
  return typeof url === 'string' ? typeNameOf(url) : '';
}
