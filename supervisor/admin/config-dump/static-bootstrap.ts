/**
 * `/config_dump?format=bootstrap`: one file without a control plane that makes a server serve what
 * this one serves now. What came apart takes its place: routes, hosts, secrets, settings of filters.
 */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { dictionary } from '../../../shared/text/dictionary.ts';
import { quoteJson } from '../../../shared/json/quote-json.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { ConfigView, DumpedResource } from '../admin-context.ts';
import type { MessageTypes } from '../message-types.ts';
import { mapLazily } from './lazy-list.ts';
import { printMessage } from './print-fields.ts';

const PACKAGE = 'envoy.config';
const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
/** Messages in messages that are looked through. */
const DEPTH_MAX = 64;

export function* printStaticBootstrap(types: MessageTypes, config: ConfigView): Generator<string> {
  const known = yield* readParts(config);
  const {
    static_resources: _static,
    dynamic_resources: _dynamic,
    ...rest
  } = config.bootstrap().message;
  const bootstrap = `${PACKAGE}.bootstrap.v3.Bootstrap`;
  const whole = { typeName: bootstrap, depth: 1 };
  let opening = '{\n';
  for (const [name, value] of Object.entries(rest)) {
    // A field by itself is printed as part of a message that holds nothing else.
    const text = [...printMessage(types, { ...whole, depth: 0 }, { [name]: value })].join('');
    yield `${opening}${text.slice(2, -2)}`;
    opening = ',\n';
  }
  yield `${opening} "static_resources": {\n  "listeners": [\n`;
  const lists = [
    ['clusters', `${PACKAGE}.listener.v3.Listener`, listenersOf(config, known)],
    ['secrets', `${PACKAGE}.cluster.v3.Cluster`, clustersOf(config, known)],
    ['', SECRET, secretsOf(config)],
  ] as const;
  for (const [next, typeName, messages] of lists) {
    let separator = '   ';
    for (const message of messages) {
      if (message === undefined) {
        yield '';
        continue;
      }
      yield separator;
      yield* printMessage(types, { typeName, depth: 3 }, message);
      separator = ',\n   ';
    }
    yield next === '' ? '\n  ]\n }\n}\n' : `\n  ],\n  ${quoteJson(next)}: [\n`;
  }
}

/** What others name. */
interface Parts {
  readonly routes: ReadonlyMap<string, JsonObject>;
  readonly secrets: ReadonlySet<string>;
  readonly extensions: ReadonlyMap<string, JsonObject>;
  readonly assignments: ReadonlyMap<string, DumpedResource>;
}

function* readParts(config: ConfigView): Steps<Parts, ''> {
  const routes = new Map<string, JsonObject>();
  for (const { name, message } of config.routes().dynamic) {
    yield '';
    routes.set(name, withoutType(message));
  }
  const { static: fixed, dynamicActive } = config.secrets();
  const secrets = new Set<string>();
  for (const list of [fixed, dynamicActive]) for (const { name } of list) secrets.add(name);
  const extensions = new Map<string, JsonObject>();
  for (const { name, message } of config.extensions().filters) extensions.set(name, message);
  const assignments = new Map<string, DumpedResource>();
  const { static: own, dynamic } = config.endpoints();
  for (const list of [own, dynamic]) {
    for (const assignment of list) {
      yield '';
      assignments.set(assignment.name, assignment);
    }
  }
  return { routes, secrets, extensions, assignments };
}

function* listenersOf(config: ConfigView, parts: Parts): Generator<JsonObject | undefined> {
  const { static: fixed, dynamic } = config.listeners();
  for (const { message } of fixed) yield inlined(withoutType(message), parts);
  for (const { active, warming } of dynamic) {
    const version = active ?? warming;
    yield version && inlined(withoutType(version.message), parts);
  }
}

function* clustersOf(config: ConfigView, parts: Parts): Generator<JsonObject | undefined> {
  const { static: fixed, dynamicActive } = config.clusters();
  for (const list of [fixed, dynamicActive]) {
    for (const { message } of list) {
      yield undefined;
      yield yield* withHosts(inlined(withoutType(message), parts), parts);
    }
  }
}

function secretsOf(config: ConfigView): Iterable<JsonObject> {
  const { static: fixed, dynamicActive } = config.secrets();
  const seen = new Set<string>();
  const all = [...fixed, ...dynamicActive].filter(({ name }) => !seen.has(name) && seen.add(name));
  return mapLazily(all, ({ message }) => withoutType(message));
}

/** A cluster whose hosts a control plane gave has them itself. */
function* withHosts(cluster: JsonObject, parts: Parts): Generator<undefined, JsonObject> {
  if (cluster['type'] !== 'EDS') return cluster;
  const { eds_cluster_config: source, ...rest } = cluster;
  const given = (source as JsonObject | undefined)?.['service_name'];
  const name = typeof given === 'string' && given !== '' ? given : textOf(cluster['name']);
  const assignment = parts.assignments.get(name);
  let message = assignment?.message ?? { cluster_name: name };
  if (assignment?.messageInSteps !== undefined) {
    const steps = assignment.messageInSteps();
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        message = step.value;
        break;
      }
      yield undefined;
    }
  }
  return { ...rest, type: 'STATIC', load_assignment: withoutZeros(withoutType(message)) };
}

/** A locality without a weight is shown with 0, which may not be written. */
function withoutZeros(assignment: JsonObject): JsonObject {
  const change = (each: JsonObject): JsonObject => {
    const { load_balancing_weight: weight, ...rest } = each;
    return weight === 0 ? rest : each;
  };
  return mapped(assignment, change, 0) as JsonObject;
}

/** Everything in a message that stands for something that came apart. */
function inlined(message: JsonObject, parts: Parts): JsonObject {
  return mapped(message, (each) => inlinedOne(each, parts), 0) as JsonObject;
}

function inlinedOne(message: JsonObject, { routes, secrets, extensions }: Parts): JsonObject {
  const { rds, sds_config: source, config_discovery: discovery } = message;
  if (isObject(rds) && typeof rds['route_config_name'] === 'string') {
    const config = routes.get(rds['route_config_name']);
    if (config !== undefined) {
      const { rds: _, ...rest } = message;
      return { ...rest, route_config: config };
    }
  }
  const { name } = message;
  if (typeof name !== 'string') return message;
  if (isObject(source) && secrets.has(name)) {
    const { sds_config: _, ...rest } = message;
    return rest;
  }
  const settings = isObject(discovery) ? extensions.get(name)?.['typed_config'] : undefined;
  if (settings === undefined) return message;
  const { config_discovery: _, ...rest } = message;
  return { ...rest, typed_config: settings };
}

/** Objects from the outside in: what takes the place of one is looked through too. */
function mapped(
  value: JsonValue,
  change: (object: JsonObject) => JsonObject,
  depth: number,
): JsonValue {
  if (depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((each) => mapped(each, change, depth + 1));
  }
  if (!isObject(value)) return value;
  const copy = dictionary<JsonValue>();
  for (const [name, each] of Object.entries(change(value))) {
    copy[name] = mapped(each as JsonValue, change, depth + 1);
  }
  return copy;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutType(message: JsonObject): JsonObject {
  const { '@type': _, ...rest } = message;
  return rest;
}
